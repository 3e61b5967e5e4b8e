// Algorand's Merkle trees, and the two hashes that they are made with.

package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"math/bits"
)

// leads says whether siblings lead from a leaf to a root. A vector commitment has a leaf at its index, bits reversed.
func leads(digest func(...[]byte) []byte, isVector bool, leaf []byte, path object, root []byte) bool {
	siblings, place := path["siblings"].([]any), uint64(path["index"].(float64))
	if place >= 1<<len(siblings) {
		return false
	}
	if isVector {
		place = bits.Reverse64(place) >> (64 - len(siblings))
	}
	for _, sibling := range siblings {
		if place&1 == 1 {
			leaf = digest([]byte("MA"), decode(sibling), leaf)
		} else {
			leaf = digest([]byte("MA"), leaf, decode(sibling))
		}
		place >>= 1
	}
	return bytes.Equal(leaf, root)
}

func sha512_256(parts ...[]byte) []byte {
	digest := sha512.Sum512_256(bytes.Join(parts, nil))
	return digest[:]
}

func sha2_256(parts ...[]byte) []byte {
	digest := sha256.Sum256(bytes.Join(parts, nil))
	return digest[:]
}
