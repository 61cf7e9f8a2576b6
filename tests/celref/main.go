// Compiles expressions as API servers of a Kubernetes version do when an object with them is created.
//
// Each line of the standard input is a case in JSON, and each line of the output its error; an empty one if it compiles.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type question struct {
	Minor      uint   `json:"minor"`
	Expression string `json:"expression"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		answer, err := json.Marshal(compile(asked))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(answer))
	}
}

// compile uses the environment of new expressions, which is that of the version before.
func compile(asked question) string {
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, asked.Minor-1)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("object", cel.DynType),
			cel.Variable("authorizer", library.AuthorizerType),
		},
	})
	if err != nil {
		return err.Error()
	}
	env, err := set.Env(environment.NewExpressions)
	if err != nil {
		return err.Error()
	}
	if _, issues := env.Compile(asked.Expression); issues != nil && issues.Err() != nil {
		return issues.Err().Error()
	}
	return ""
}
