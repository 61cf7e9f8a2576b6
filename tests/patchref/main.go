// Applies patches as Kustomize and, in strategic merges of built-in kinds, the API server do.
//
// Each line of the standard input is a case in JSON, and each line of the output its results. A patch is either a
// strategic merge (`patch`) or a list of JSON 6902 operations (`operations`).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/kustomize/api/filters/patchjson6902"
	"sigs.k8s.io/kustomize/api/filters/patchstrategicmerge"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

type patchCase struct {
	Object     json.RawMessage `json:"object"`
	Patch      json.RawMessage `json:"patch,omitempty"`
	Operations json.RawMessage `json:"operations,omitempty"`
}

// Removed is set if Kustomize removes the whole object.
type result struct {
	Object  json.RawMessage `json:"object,omitempty"`
	Removed bool            `json:"removed,omitempty"`
	Error   string          `json:"error,omitempty"`
}

type results struct {
	Kustomize    result  `json:"kustomize"`
	APIMachinery *result `json:"apimachinery,omitempty"`
}

var types = map[string]any{
	"Deployment":            appsv1.Deployment{},
	"StatefulSet":           appsv1.StatefulSet{},
	"Job":                   batchv1.Job{},
	"CronJob":               batchv1.CronJob{},
	"Service":               corev1.Service{},
	"ConfigMap":             corev1.ConfigMap{},
	"PersistentVolume":      corev1.PersistentVolume{},
	"PersistentVolumeClaim": corev1.PersistentVolumeClaim{},
	"Ingress":               networkingv1.Ingress{},
}

const pyTorchJobSchema = `{"definitions": {"org.kubeflow.v1.PyTorchJob": {
  "type": "object",
  "x-kubernetes-group-version-kind": [{"group": "kubeflow.org", "version": "v1", "kind": "PyTorchJob"}],
  "properties": {
    "metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
    "spec": {"type": "object", "properties": {"pytorchReplicaSpecs": {"type": "object", "additionalProperties": {
      "type": "object",
      "properties": {"template": {"$ref": "#/definitions/io.k8s.api.core.v1.PodTemplateSpec"}}}}}}}}}}`

func main() {
	if err := openapi.AddSchema([]byte(pyTorchJobSchema)); err != nil {
		panic(err)
	}
	input := bufio.NewReader(os.Stdin)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	decoder, encoder := json.NewDecoder(input), json.NewEncoder(output)
	for decoder.More() {
		var one patchCase
		if err := decoder.Decode(&one); err != nil {
			panic(err)
		}
		if err := encoder.Encode(applied(one)); err != nil {
			panic(err)
		}
	}
}

func applied(one patchCase) results {
	return results{Kustomize: kustomize(one), APIMachinery: apimachinery(one)}
}

func kustomize(one patchCase) (found result) {
	defer func() {
		if reason := recover(); reason != nil {
			found = result{Error: fmt.Sprint("panic: ", reason)}
		}
	}()
	object, err := yaml.Parse(string(one.Object))
	if err != nil {
		return result{Error: err.Error()}
	}
	var nodes []*yaml.RNode
	if one.Operations != nil {
		nodes, err = patchjson6902.Filter{Patch: string(one.Operations)}.Filter([]*yaml.RNode{object})
	} else {
		var patch *yaml.RNode
		if patch, err = yaml.Parse(string(one.Patch)); err == nil {
			nodes, err = patchstrategicmerge.Filter{Patch: patch}.Filter([]*yaml.RNode{object})
		}
	}
	if err != nil {
		return result{Error: err.Error()}
	}
	if len(nodes) == 0 {
		return result{Removed: true}
	}
	text, err := nodes[0].MarshalJSON()
	if err != nil {
		return result{Error: err.Error()}
	}
	return result{Object: text}
}

// The API server has no strategic merge for custom resources, and so no result for kinds that are not in `types`.
func apimachinery(one patchCase) *result {
	var head struct{ Kind string }
	if err := json.Unmarshal(one.Object, &head); err != nil {
		return &result{Error: err.Error()}
	}
	kind, known := types[head.Kind]
	if !known || one.Operations != nil {
		return nil
	}
	merged, err := strategicpatch.StrategicMergePatch(one.Object, one.Patch, kind)
	if err != nil {
		return &result{Error: err.Error()}
	}
	return &result{Object: merged}
}
