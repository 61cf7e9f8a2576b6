// Validates experiments and runs their trials as Katib does, with its own packages.
//
// Each line of the standard input is a case in JSON, and each line of the output its result. A case has one of:
// `experiment` with `assignments`: the errors of the webhook, and the object of a trial with these values;
// `log` with `metrics` and `filters`: the values that the collector finds;
// `object` with `succeeded` and `failed`: the state of a trial.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	config "github.com/kubeflow/katib/pkg/apis/config/v1beta1"
	common "github.com/kubeflow/katib/pkg/apis/controller/common/v1beta1"
	experiments "github.com/kubeflow/katib/pkg/apis/controller/experiments/v1beta1"
	trials "github.com/kubeflow/katib/pkg/apis/controller/trials/v1beta1"
	"github.com/kubeflow/katib/pkg/controller.v1beta1/experiment/manifest"
	trialutil "github.com/kubeflow/katib/pkg/controller.v1beta1/trial/util"
	collector "github.com/kubeflow/katib/pkg/metricscollector/v1beta1/file-metricscollector"
	"github.com/kubeflow/katib/pkg/webhook/v1beta1/experiment/validator"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type testCase struct {
	Experiment  json.RawMessage              `json:"experiment,omitempty"`
	Assignments []common.ParameterAssignment `json:"assignments,omitempty"`
	Log         *string                      `json:"log,omitempty"`
	Metrics     []string                     `json:"metrics,omitempty"`
	Filters     []string                     `json:"filters,omitempty"`
	Object      map[string]any               `json:"object,omitempty"`
	Succeeded   string                       `json:"succeeded,omitempty"`
	Failed      string                       `json:"failed,omitempty"`
}

type result struct {
	Errors []string          `json:"errors"`
	Trial  map[string]any    `json:"trial,omitempty"`
	Values map[string]string `json:"values,omitempty"`
	State  string            `json:"state,omitempty"`
}

// The configuration of the manifests of Katib.
type generator struct{ manifest.Generator }

var algorithms = map[string]bool{
	"random": true, "tpe": true, "grid": true, "hyperband": true, "bayesianoptimization": true, "cmaes": true,
	"sobol": true, "multivariate-tpe": true, "enas": true, "darts": true, "pbt": true,
}

func (generator) GetSuggestionConfigData(name string) (config.SuggestionConfig, error) {
	if !algorithms[name] {
		return config.SuggestionConfig{}, fmt.Errorf("no algorithm %q", name)
	}
	return config.SuggestionConfig{}, nil
}

func (generator) GetEarlyStoppingConfigData(name string) (config.EarlyStoppingConfig, error) {
	if name != "medianstop" {
		return config.EarlyStoppingConfig{}, fmt.Errorf("no algorithm %q", name)
	}
	return config.EarlyStoppingConfig{}, nil
}

func (generator) GetMetricsCollectorConfigData(common.CollectorKind) (config.MetricsCollectorConfig, error) {
	return config.MetricsCollectorConfig{}, nil
}

func validated(given testCase) (result, error) {
	var experiment experiments.Experiment
	decoder := json.NewDecoder(bytes.NewReader(given.Experiment))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&experiment); err != nil {
		return result{}, err
	}
	experiment.SetDefault()
	katib := generator{manifest.New(nil)}
	done := result{Errors: []string{}}
	for _, fault := range validator.New(katib).ValidateExperiment(&experiment, nil) {
		done.Errors = append(done.Errors, fault.Error())
	}
	trial, err := katib.GetRunSpecWithHyperParameters(&experiment, "demo-0a1b2c3d-trial", "team", given.Assignments)
	if err != nil {
		return done, err
	}
	done.Trial = trial.Object
	return done, nil
}

func collected(given testCase) (result, error) {
	file, err := os.CreateTemp("", "log")
	if err != nil {
		return result{}, err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(*given.Log); err != nil {
		return result{}, err
	}
	file.Close()
	found, err := collector.CollectObservationLog(file.Name(), given.Metrics, given.Filters, common.TextFormat)
	if err != nil {
		return result{}, err
	}
	done := result{Errors: []string{}, Values: map[string]string{}}
	for _, one := range found.MetricLogs {
		done.Values[one.Metric.Name] = one.Metric.Value
	}
	return done, nil
}

func state(given testCase) (result, error) {
	trial := trials.Trial{}
	trial.Spec.SuccessCondition, trial.Spec.FailureCondition = given.Succeeded, given.Failed
	found, err := trialutil.GetDeployedJobStatus(&trial, &unstructured.Unstructured{Object: given.Object})
	if err != nil || found == nil {
		return result{Errors: []string{}}, err
	}
	return result{Errors: []string{}, State: string(found.Condition)}, nil
}

func answer(line []byte) (result, error) {
	var given testCase
	if err := json.Unmarshal(line, &given); err != nil {
		return result{}, err
	}
	switch {
	case given.Experiment != nil:
		return validated(given)
	case given.Log != nil:
		return collected(given)
	default:
		return state(given)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		done, err := answer(lines.Bytes())
		if err != nil {
			done.Errors = append(done.Errors, err.Error())
		}
		text, err := json.Marshal(done)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}
