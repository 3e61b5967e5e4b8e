// How many coins must fall on signed weight, and on which.

package main

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"golang.org/x/crypto/sha3"
)

func nextCoin(words sha3.ShakeHash, weight uint64) uint64 {
	for {
		word := make([]byte, 8)
		_, _ = words.Read(word)
		number := binary.LittleEndian.Uint64(word)
		// Below floor(2^64 / weight) * weight: the rest of 2^64 is -weight mod weight.
		if rest := -weight % weight; rest == 0 || number < -rest {
			return number % weight
		}
	}
}

func isEnough(signed, proven uint64, count int64) bool {
	w, n, d := new(big.Int).SetUint64(signed), big.NewInt(count), uint(bits.Len64(signed))-1
	mul := func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
	add := func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
	power := new(big.Int).Lsh(big.NewInt(1), 2*d)
	y := add(add(mul(w, w), new(big.Int).Lsh(w, d+2)), power)
	x := mul(big.NewInt(3<<16), new(big.Int).Sub(mul(w, w), power))
	left := mul(n, add(x, mul(big.NewInt(int64(d)*45426), y)))
	right := mul(add(big.NewInt(256*45427), mul(n, new(big.Int).SetUint64(proven))), y)
	return signed > 0 && left.Cmp(right) >= 0
}
