// Ed25519 as Algorand's consensus verifies it, which is stricter than RFC 8032 about keys and encodings, and cofactored.

package main

import (
	"bytes"
	"crypto/sha512"
	"math/big"
	"slices"
)

// A point in extended coordinates x, y, z, t.
type point [4]*big.Int

var (
	unit        = big.NewInt(1)
	prime       = new(big.Int).Sub(new(big.Int).Lsh(unit, 255), big.NewInt(19))
	groupOrder  = decimal("7237005577332262213973186563042994240857116359379907606001950938285454250989")
	curveD      = decimal("37095705934669439343138083508754565189542113879843219016388785533085940283555")
	rootOfMinus = decimal("19681161376707505956807079304988542015446066515923890162744021073123829784752")
	neutral     = point{new(big.Int), unit, unit, new(big.Int)}
	basePoint   = decodePoint(append([]byte{0x58}, bytes.Repeat([]byte{0x66}, 31)...))
)

func decimal(digits string) *big.Int {
	number, _ := new(big.Int).SetString(digits, 10)
	return number
}

func littleEndian(data []byte) *big.Int {
	reversed := slices.Clone(data)
	slices.Reverse(reversed)
	return new(big.Int).SetBytes(reversed)
}

// product gives the product of numbers, modulo the prime.
func product(numbers ...*big.Int) *big.Int {
	result := big.NewInt(1)
	for _, number := range numbers {
		result.Mul(result, number).Mod(result, prime)
	}
	return result
}

func plus(a, b *big.Int) *big.Int  { return new(big.Int).Add(a, b) }
func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

// decodePoint gives the point of 32 bytes (RFC 8032 section 5.1.3); it panics where they are not its one encoding.
func decodePoint(data []byte) point {
	y := littleEndian(data)
	sign := y.Bit(255)
	y.SetBit(y, 255, 0)
	u, v := minus(product(y, y), unit), plus(product(curveD, y, y), unit)
	v3 := product(v, v, v)
	root := new(big.Int).Exp(product(u, v3, v3, v), new(big.Int).Rsh(minus(prime, big.NewInt(5)), 3), prime)
	x := product(u, v3, root)
	if product(minus(product(v, x, x), u)).Sign() != 0 {
		x = product(x, rootOfMinus)
	}
	isOnCurve := product(minus(product(v, x, x), u)).Sign() == 0
	require(isOnCurve && y.Cmp(prime) < 0 && (x.Sign() != 0 || sign == 0), "not the encoding of a point")
	if x.Bit(0) != sign {
		x = minus(prime, x)
	}
	return point{x, y, unit, product(x, y)}
}

func addPoints(p, q point) point {
	a, b := product(minus(p[1], p[0]), minus(q[1], q[0])), product(plus(p[1], p[0]), plus(q[1], q[0]))
	c, d := product(big.NewInt(2), curveD, p[3], q[3]), product(big.NewInt(2), p[2], q[2])
	e, f, g, h := minus(b, a), minus(d, c), plus(d, c), plus(b, a)
	return point{product(e, f), product(g, h), product(f, g), product(e, h)}
}

func multiply(p point, scalar *big.Int) point {
	result := neutral
	for bit := scalar.BitLen() - 1; bit >= 0; bit-- {
		result = addPoints(result, result)
		if scalar.Bit(bit) == 1 {
			result = addPoints(result, p)
		}
	}
	return result
}

func negate(p point) point { return point{minus(prime, p[0]), p[1], p[2], minus(prime, p[3])} }

func isNeutral(p point) bool { return product(p[0]).Sign() == 0 && p[1].Cmp(p[2]) == 0 }

// verifyEd25519 says whether a signature of 64 bytes is right under a key of 32 bytes; it panics where one is no encoding.
func verifyEd25519(key, message, signature []byte) bool {
	require(len(signature) == 64, "no signature")
	a, r, s := decodePoint(key), decodePoint(signature[:32]), littleEndian(signature[32:])
	cofactor := big.NewInt(8)
	if s.Cmp(groupOrder) >= 0 || isNeutral(multiply(a, cofactor)) {
		return false
	}
	digest := sha512.Sum512(slices.Concat(signature[:32], key, message))
	h := new(big.Int).Mod(littleEndian(digest[:]), groupOrder)
	difference := addPoints(addPoints(multiply(basePoint, s), multiply(negate(a), h)), negate(r))
	return isNeutral(multiply(difference, cofactor))
}
