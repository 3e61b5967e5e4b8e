//go:build cgo

// Deterministic Falcon-1024, by Algorand's own C.

package main

import "github.com/algorand/falcon"

const hasFalcon = true

func verifyFalcon(publicKey, signature, message []byte) bool {
	key := falcon.PublicKey(publicKey)
	return key.Verify(signature, message) == nil
}

// constantLength gives a signature's coefficients in 12 bits each.
func constantLength(signature []byte) []byte {
	compressed := falcon.CompressedSignature(signature)
	constant, err := compressed.ConvertToCT()
	require(err == nil, "no coefficients")
	return constant[:]
}
