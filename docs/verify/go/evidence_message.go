// The message of a state proof, as its participants sign it.

package main

import (
	"encoding/binary"
	"math/bits"
)

// isNextInterval says whether a message attests the interval after a checkpoint: a power of two of rounds, the last a multiple of it.
func isNextInterval(message, checkpoint object) bool {
	first, last := message["firstAttestedRound"].(float64), message["lastAttestedRound"].(float64)
	if first != checkpoint["round"].(float64)+1 || first > last || last-first >= 256 {
		return false
	}
	interval := uint64(last-first) + 1
	return bits.OnesCount64(interval) == 1 && uint64(last)%interval == 0
}

// messageHash is what the participants sign.
func messageHash(message object) []byte {
	encoded := []byte{0x85}
	for _, member := range []struct{ key, name string }{{"P", "lnProvenWeight"}, {"b", "blockHeadersCommitment"},
		{"f", "firstAttestedRound"}, {"l", "lastAttestedRound"}, {"v", "votersCommitment"}} {
		encoded = append(encoded, 0xa1, member.key[0])
		if number, ok := message[member.name].(float64); ok {
			encoded = append(encoded, shortest(uint64(number))...)
		} else {
			data := decode(message[member.name])
			encoded = append(append(encoded, 0xc4, byte(len(data))), data...)
		}
	}
	return sha2_256([]byte("spm"), encoded)
}

// shortest is msgpack of an integer.
func shortest(number uint64) []byte {
	if number < 0x80 {
		return []byte{byte(number)}
	}
	size := 0 // of 1, 2, 4 or 8 bytes
	for ; size < 3 && bits.Len64(number) > 8<<size; size++ {
	}
	return append([]byte{0xcc + byte(size)}, binary.BigEndian.AppendUint64(nil, number)[8-(1<<size):]...)
}
