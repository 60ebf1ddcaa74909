package pricing

import (
	. "example.org/money"
	"example.org/shop/v2/store"
)

// Rule changes a price.
type Rule interface {
	Apply(p *store.Product) Amount
}

// RuleFunc is a function as a rule.
type RuleFunc func(p *store.Product) Amount

// Apply calls it.
func (f RuleFunc) Apply(p *store.Product) Amount { return f(p) }

type discount struct{ percent int }

func (d discount) Apply(p *store.Product) Amount {
	return p.Price.Times(100 - d.percent)
}

type chain struct {
	rules []Rule
	after func() Rule
}

func (c *chain) Apply(p *store.Product) Amount {
	total := Of(0)
	for i := range c.rules {
		total = total.Plus(c.rules[i].Apply(p))
	}
	if c.after != nil {
		c.after().Apply(p)
	}
	return total
}

// Discount makes a rule.
func Discount(percent int) Rule { return discount{percent} }

// Chain joins rules.
func Chain(rules ...Rule) Rule {
	return &chain{rules: rules, after: func() Rule { return Discount(0) }}
}

// Total prices all products of a store.
func Total(s store.Store, rule Rule) Amount {
	var amounts []Amount
	for _, p := range s.All() {
		switch r := rule.(type) {
		case *chain:
			amounts = append(amounts, r.Apply(p))
		case discount:
			amounts = append(amounts, r.Apply(p).Times(r.percent))
		case nil:
			continue
		default:
			amounts = append(amounts, r.Apply(p))
		}
	}
	return Sum(amounts...)
}
