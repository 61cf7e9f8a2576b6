// Validates workflows, evaluates conditions and replaces variables as Argo Workflows does.
//
// Each line of the standard input is a case in JSON, and each line of the output its result.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/template"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

type request struct {
	Workflow  json.RawMessage   `json:"workflow,omitempty"`
	Cron      json.RawMessage   `json:"cron,omitempty"`
	Object    json.RawMessage   `json:"object,omitempty"`
	Success   string            `json:"success,omitempty"`
	Failure   string            `json:"failure,omitempty"`
	Template  json.RawMessage   `json:"template,omitempty"`
	Variables map[string]string `json:"variables,omitempty"`
}

type response struct {
	Error   string          `json:"error,omitempty"`
	Outcome string          `json:"outcome,omitempty"`
	Object  json.RawMessage `json:"object,omitempty"`
}

type gjsonLabels struct{ json []byte }

func (g gjsonLabels) Has(label string) bool   { return gjson.GetBytes(g.json, label).Exists() }
func (g gjsonLabels) Get(label string) string { return gjson.GetBytes(g.json, label).String() }
func (g gjsonLabels) Lookup(label string) (string, bool) {
	found := gjson.GetBytes(g.json, label)
	return found.String(), found.Exists()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 0, 1<<20), 1<<26)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	for lines.Scan() {
		var one request
		answer := response{}
		err := json.Unmarshal(lines.Bytes(), &one)
		if err == nil {
			answer, err = answered(one)
		}
		if err != nil {
			answer.Error = err.Error()
		}
		text, _ := json.Marshal(answer)
		fmt.Fprintln(output, string(text))
	}
}

func answered(one request) (response, error) {
	switch {
	case one.Workflow != nil:
		var workflow wfv1.Workflow
		if err := yaml.UnmarshalStrict(one.Workflow, &workflow); err != nil {
			return response{}, err
		}
		return response{}, validate.ValidateWorkflow(nil, nil, &workflow, nil, validate.ValidateOpts{Lint: true})
	case one.Cron != nil:
		var workflow wfv1.CronWorkflow
		if err := yaml.UnmarshalStrict(one.Cron, &workflow); err != nil {
			return response{}, err
		}
		return response{}, validate.ValidateCronWorkflow(context.Background(), nil, nil, &workflow, nil)
	case one.Template != nil:
		object, err := replaced(one)
		return response{Object: object}, err
	}
	outcome, err := outcomeOf(one)
	return response{Outcome: outcome}, err
}

// As `matchConditions` of `workflow/executor/resource.go`, which is not exported.
func outcomeOf(one request) (string, error) {
	status := gjsonLabels{one.Object}
	failure, err := labels.Parse(one.Failure)
	if err != nil {
		return "", err
	}
	success, err := labels.Parse(one.Success)
	if err != nil {
		return "", err
	}
	failed, _ := failure.Requirements()
	for _, requirement := range failed {
		if requirement.Matches(status) {
			return "failed", nil
		}
	}
	if success.Matches(status) {
		return "succeeded", nil
	}
	return "waiting", nil
}

// The object that the executor creates: variables are replaced in the JSON of the template, the manifest is YAML.
func replaced(one request) (json.RawMessage, error) {
	variables := map[string]string{}
	for name, value := range one.Variables {
		variables[name] = value
	}
	text, err := template.Replace(string(one.Template), variables, true)
	if err != nil {
		return nil, err
	}
	var known wfv1.Template
	if err := json.Unmarshal([]byte(text), &known); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON([]byte(known.Resource.Manifest))
}
