// Evaluate the triggers of Argo CD's notifications over an Application. Each line of the input is an object with `triggers`,
// YAML by the names of triggers, and `app`; each line of the output has what is sent: `oncePer`, empty if nothing is.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/argoproj/notifications-engine/pkg/triggers"
	"sigs.k8s.io/yaml"
)

type request struct {
	Triggers map[string]string `json:"triggers"`
	App      map[string]any    `json:"app"`
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var one request
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		parsed := map[string][]triggers.Condition{}
		for name, text := range one.Triggers {
			var conditions []triggers.Condition
			if err := yaml.Unmarshal([]byte(text), &conditions); err != nil {
				panic(err)
			}
			parsed[name] = conditions
		}
		service := must(triggers.NewService(parsed))
		sent := map[string]string{}
		for name := range parsed {
			for _, result := range must(service.Run(name, map[string]any{"app": one.App})) {
				if result.Triggered {
					sent[name] = result.OncePer + ":" + result.Key
				}
			}
		}
		if err := out.Encode(sent); err != nil {
			panic(err)
		}
	}
}
