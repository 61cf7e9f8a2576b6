// Reads objects of the training operator, a line of JSON each, and writes the pods that it makes from them: their
// names, and the containers with images, variables and resources. It calls the operator's own code.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sort"
	"strconv"
	"strings"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/controller.v1/jax"
	paddle "github.com/kubeflow/training-operator/pkg/controller.v1/paddlepaddle"
	"github.com/kubeflow/training-operator/pkg/controller.v1/pytorch"
	"github.com/kubeflow/training-operator/pkg/controller.v1/tensorflow"
	"github.com/kubeflow/training-operator/pkg/controller.v1/xgboost"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type clusterSpec interface {
	SetClusterSpec(job interface{}, template *corev1.PodTemplateSpec, rtype, index string) error
}

type pod struct {
	Name       string             `json:"name"`
	Containers []corev1.Container `json:"containers"`
}

func pods(line []byte) ([]pod, error) {
	var meta struct {
		Kind     string
		Metadata struct{ Name string }
	}
	if err := json.Unmarshal(line, &meta); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := kubeflow.AddToScheme(scheme); err != nil {
		return nil, err
	}
	var job runtime.Object
	var controller clusterSpec
	replicas := map[kubeflow.ReplicaType]*kubeflow.ReplicaSpec{}
	read := func(into runtime.Object) error {
		job = into
		if err := json.Unmarshal(line, into); err != nil {
			return err
		}
		scheme.Default(into)
		return nil
	}
	var err error
	switch meta.Kind {
	case "PyTorchJob":
		one := &kubeflow.PyTorchJob{}
		err = read(one)
		controller, replicas = &pytorch.PyTorchJobReconciler{}, one.Spec.PyTorchReplicaSpecs
	case "TFJob":
		one := &kubeflow.TFJob{}
		err = read(one)
		controller, replicas = &tensorflow.TFJobReconciler{}, one.Spec.TFReplicaSpecs
	case "XGBoostJob":
		one := &kubeflow.XGBoostJob{}
		err = read(one)
		controller, replicas = &xgboost.XGBoostJobReconciler{}, one.Spec.XGBReplicaSpecs
	case "PaddleJob":
		one := &kubeflow.PaddleJob{}
		err = read(one)
		controller, replicas = &paddle.PaddleJobReconciler{}, one.Spec.PaddleReplicaSpecs
	case "JAXJob":
		one := &kubeflow.JAXJob{}
		err = read(one)
		controller, replicas = &jax.JAXJobReconciler{}, one.Spec.JAXReplicaSpecs
	}
	if err != nil {
		return nil, err
	}
	made := []pod{}
	for role, spec := range replicas {
		rtype := strings.ToLower(string(role))
		for index := 0; index < int(*spec.Replicas); index++ {
			template, number := spec.Template.DeepCopy(), strconv.Itoa(index)
			if err := controller.SetClusterSpec(job, template, rtype, number); err != nil {
				return nil, err
			}
			made = append(made, pod{common.GenGeneralName(meta.Metadata.Name, rtype, number), template.Spec.Containers})
		}
	}
	sort.Slice(made, func(i, j int) bool { return made[i].Name < made[j].Name })
	return made, nil
}

func main() {
	config.Config.PyTorchInitContainerImage = "alpine:3.10"
	config.Config.PyTorchInitContainerTemplateFile = "/nonexistent"
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		made, err := pods(lines.Bytes())
		if err != nil {
			made = []pod{{Name: err.Error()}}
		}
		if err := out.Encode(made); err != nil {
			panic(err)
		}
	}
}
