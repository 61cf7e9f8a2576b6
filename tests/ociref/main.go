// A registry in memory. It prints its address, and ends with its input.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	go func() {
		_ = http.Serve(listener, registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}
