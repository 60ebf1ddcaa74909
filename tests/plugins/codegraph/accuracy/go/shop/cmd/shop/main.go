// Command shop runs the shop.
package main

import (
	"fmt"
	"os"

	coin "example.org/money"
	_ "example.org/shop/v2/internal/audit"
	"example.org/shop/v2/pricing"
	st "example.org/shop/v2/store"
)

type server struct {
	store   st.Store
	rule    pricing.Rule
	done    chan *st.Product
	results map[string]chan result
	render  func(coin.Amount) string
}

type result struct{ amount coin.Amount }

func (r result) show() string { return r.amount.String() }

type option func(*server)

func withRule(r pricing.Rule) option {
	return func(s *server) { s.setRule(r) }
}

func (s *server) setRule(r pricing.Rule) { s.rule = r }

func newServer(options ...option) *server {
	s := &server{store: st.NewMemory(), render: show}
	for _, apply := range options {
		apply(s)
	}
	return s
}

func show(a coin.Amount) string { return a.String() }

func (s *server) run() (err error) {
	go s.watch()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", s.fail())
		}
	}()
	p, err := s.store.Find("tea")
	if err != nil {
		return err
	}
	s.done <- p
	select {
	case got := <-s.done:
		got.Label()
	case r := <-s.results["x"]:
		fmt.Println(r.show())
	}
	find := s.store.Find
	if q, err := find("milk"); err == nil {
		q.Label()
	}
	fmt.Println(s.render(pricing.Total(s.store, s.rule)))
	return nil
}

func (s *server) fail() string { return "failed" }

func (s *server) watch() {
	for p := range s.done {
		p.Label()
	}
	for name, ch := range s.results {
		fmt.Println(name, (<-ch).show())
	}
}

func closeAll(closers ...interface{ Close() error }) {
	for _, c := range closers {
		c.Close()
	}
}

func lookup(name string) func() string {
	products := map[string]st.Product{"a": {Name: "a"}}
	show := func() string {
		p := products[name]
		return p.Label()
	}
	return show
}

var fallback = newServer(withRule(pricing.Discount(10)))

func init() { fallback.setRule(nil) }

func main() {
	s := newServer(
		withRule(pricing.Chain(pricing.Discount(5), pricing.RuleFunc(flat))),
	)
	memory := st.Open()
	closeAll(memory)
	memory.Close()
	var any interface{} = memory
	if c, ok := any.(st.ClosableStore); ok {
		c.Close()
		c.Find("x")
	}
	if err := s.run(); err != nil {
		os.Exit(1)
	}
	fmt.Println(lookup("a")(), pricing.Labels(memory.All()))
	coin.Of(3).Plus(coin.Of(4)).String()
	new(server).watch()
	(&result{}).show()
	[]result{{}, {}}[0].show()
	describe(any)
}

func flat(p *st.Product) coin.Amount { return coin.Of(1) }

func describe(x interface{}) string {
	if s, ok := x.(fmt.Stringer); ok {
		return s.String()
	}
	return x.(result).show()
}
