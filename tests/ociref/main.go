// A registry in memory. It prints its address, and ends with its input. With the arguments USER PASSWORD, it needs a login.
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
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	if len(os.Args) == 3 {
		handler = withLogin(handler, os.Args[1], os.Args[2])
	}
	go func() {
		_ = http.Serve(listener, handler)
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func withLogin(next http.Handler, user, password string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
