// Package cash counts money; its name differs from its directory.
package cash

import "fmt"

// Amount is in the smallest unit.
type Amount int64

// Of makes an amount of whole units.
func Of(units int64) Amount { return Amount(units * 100) }

// Plus adds.
func (a Amount) Plus(b Amount) Amount { return a + b }

// Times multiplies.
func (a Amount) Times(n int) Amount { return a * Amount(n) }

func (a Amount) String() string { return fmt.Sprintf("%d", int64(a)) }

// Sum adds many.
func Sum(amounts ...Amount) (total Amount) {
	for _, each := range amounts {
		total = total.Plus(each)
	}
	return
}
