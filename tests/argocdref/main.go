// Compare objects as Argo CD does without the server's diff: structured merge, with the OpenAPI of the server in KUBECONFIG, and with the
// ignored differences of an Application. Each line of the input has `desired`, `live` and `ignored`, jq expressions; each line of the
// output is true if the live object differs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2/textlogger"
	"k8s.io/kube-openapi/pkg/util/proto"
)

type request struct {
	Desired map[string]any `json:"desired"`
	Live    map[string]any `json:"live"`
	Ignored []string       `json:"ignored"`
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// ignored is the normalizer of `util/argo/normalizers/diff_normalizer.go`: `del(<expression>)` of each object.
type ignored []string

func (expressions ignored) Normalize(one *unstructured.Unstructured) error {
	for _, expression := range expressions {
		text := must(json.Marshal(one.Object))
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return err
		}
		found, _ := must(gojq.Parse("del(" + expression + ")")).Run(value).Next()
		if err, failed := found.(error); failed {
			return err
		}
		if err := json.Unmarshal(must(json.Marshal(found)), &one.Object); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	config := must(clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")))
	document := must(discovery.NewDiscoveryClientForConfigOrDie(config).OpenAPISchema())
	parser := must(managedfields.NewGVKParser(must(proto.NewOpenAPIData(document)), false))
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(os.Stderr)))
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var one request
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		desired, live := &unstructured.Unstructured{Object: one.Desired}, &unstructured.Unstructured{Object: one.Live}
		result, err := diff.Diff(desired, live, diff.WithGVKParser(parser), diff.WithManager("argocd-controller"),
			diff.WithStructuredMergeDiff(true), diff.WithNormalizer(ignored(one.Ignored)), diff.WithLogr(logger))
		if err != nil {
			panic(err)
		}
		if result.Modified {
			fmt.Fprintf(os.Stderr, "predicted %s\nlive %s\n", result.PredictedLive, result.NormalizedLive)
		}
		if err := out.Encode(result.Modified); err != nil {
			panic(err)
		}
	}
}
