// Package store keeps products.
package store

import (
	"errors"
	"sort"
	"sync"

	cash "example.org/money"
	"example.org/shop/v2/internal/audit"
)

// ErrMissing says that there is no such product.
var ErrMissing = errors.New("missing")

// Product is for sale.
type Product struct {
	Name  string
	Price cash.Amount
	tags  []Tag
	next  *Product
}

// Tag is a word on a product.
type Tag string

// Clean makes a tag comparable.
func (t Tag) Clean() Tag { return t }

// Label is its text.
func (p *Product) Label() string {
	if p.next != nil {
		return p.next.Label()
	}
	for _, t := range p.tags {
		t = t.Clean()
		_ = t
	}
	return p.Name
}

// Store finds products.
type Store interface {
	Find(name string) (*Product, error)
	All() []*Product
}

// Closer can be closed.
type Closer interface {
	Close() error
}

// ClosableStore is both.
type ClosableStore interface {
	Store
	Closer
}

type base struct {
	audit.Logger
	mu   sync.Mutex
	name string
}

func (b *base) Close() error {
	b.Log("closing " + b.title())
	return nil
}

func (b *base) title() string { return b.name }

// Memory is a store in memory.
type Memory struct {
	*base
	items map[string]*Product
	hooks []func(*Product)
	byTag map[Tag][]*Product
}

// NewMemory makes a store.
func NewMemory(products ...*Product) *Memory {
	m := &Memory{base: &base{name: "memory"}, items: make(map[string]*Product)}
	for _, p := range products {
		m.put(p)
	}
	m.base.mu.Lock()
	defer m.mu.Unlock()
	return m
}

func (m *Memory) put(p *Product) {
	m.items[p.Label()] = p
	for _, tag := range p.tags {
		m.byTag[tag.Clean()] = append(m.byTag[tag], p)
	}
	for _, hook := range m.hooks {
		hook(p)
	}
}

// Find finds one.
func (m *Memory) Find(name string) (*Product, error) {
	p, ok := m.items[name]
	if !ok {
		m.Log(name)
		return nil, ErrMissing
	}
	p.Label()
	return p, nil
}

// All lists all of them in order.
func (m *Memory) All() []*Product {
	var all []*Product
	for _, p := range m.items {
		all = append(all, p)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Label() < all[j].Label() })
	return all
}

type shelf []*Product

func (s shelf) Len() int { return len(s) }

func (s shelf) Less(i, j int) bool { return s[i].Label() < s[j].Label() }

func (s shelf) each(visit ...func(*Product)) {
	for _, p := range s {
		p.Label()
	}
}

func tagged(products ...*Product) (out []Tag) {
	for i, p := range products {
		p.Label()
		out = append(out, clean(products[i].tags...)...)
	}
	return out
}

func clean(tags ...Tag) []Tag {
	return append([]Tag{}, tags[0].Clean())
}
