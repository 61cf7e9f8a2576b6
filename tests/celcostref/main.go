// Estimates the costs of the rules of a schema as the API server does when a definition is created.
//
// Each line of the standard input is a schema in JSON, and each line of the output the estimates of its rules.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

type question struct {
	Minor  uint               `json:"minor"`
	Root   bool               `json:"root"`
	Schema v1.JSONSchemaProps `json:"schema"`
}

type estimate struct {
	Error       string `json:"error"`
	Cost        uint64 `json:"cost"`
	MessageCost uint64 `json:"messageCost"`
	Cardinality uint64 `json:"cardinality"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var asked question
		must(json.Unmarshal(lines.Bytes(), &asked))
		answer, err := json.Marshal(estimates(asked))
		must(err)
		fmt.Println(string(answer))
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// estimates uses the environment of new expressions, which is that of the version before.
func estimates(asked question) []estimate {
	var internal apiextensions.JSONSchemaProps
	must(v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&asked.Schema, &internal, nil))
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return []estimate{{Error: err.Error()}}
	}
	declared := model.SchemaDeclType(structural, asked.Root)
	set := environment.MustBaseEnvSet(version.MajorMinor(1, asked.Minor-1), true)
	results, err := cel.Compile(structural, declared, celconfig.PerCallLimit, set, cel.NewExpressionsEnvLoader())
	if err != nil {
		return []estimate{{Error: err.Error()}}
	}
	found := []estimate{}
	for _, one := range results {
		shown := estimate{Cost: one.MaxCost, MessageCost: one.MessageExpressionMaxCost, Cardinality: one.MaxCardinality}
		if one.Error != nil {
			shown.Error = one.Error.Detail
		} else if one.MessageExpressionError != nil {
			shown.Error = one.MessageExpressionError.Detail
		}
		found = append(found, shown)
	}
	return found
}
