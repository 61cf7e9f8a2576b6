// Reads YAML documents as kubectl does, and writes each as a line of JSON. The documents come as a JSON list of texts.
package main

import (
	"encoding/json"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	for _, text := range texts {
		line, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			line, _ = json.Marshal(map[string]string{"error": err.Error()})
		}
		os.Stdout.Write(append(line, '\n'))
	}
}
