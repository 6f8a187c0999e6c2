package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// runProxy serves what gateways are compared with: the standard library's
// reverse proxy with pooled buffers and many kept connections. It reads each
// request whole before it forwards it, as a gateway must.
func runProxy(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) != 1 {
		return errors.New("proxy: want the address of the provider")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 1024
	transport.DisableCompression = true
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: args[0]}) },
		Transport:     transport,
		FlushInterval: -1,
		BufferPool:    &copyBuffers{},
	}
	return serveUntilEOF(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, r)
	}), stdin, stdout)
}

// copyBuffers is an httputil.BufferPool.
type copyBuffers struct{ pool sync.Pool }

const copyBufferSize = 32 << 10

// Get returns a buffer to copy with.
func (b *copyBuffers) Get() []byte {
	if buf, ok := b.pool.Get().(*[copyBufferSize]byte); ok {
		return buf[:]
	}
	return make([]byte, copyBufferSize)
}

// Put takes a buffer back.
func (b *copyBuffers) Put(buf []byte) { b.pool.Put((*[copyBufferSize]byte)(buf)) }
