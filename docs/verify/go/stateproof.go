// Algorand's state proofs: that the stake to which a checkpoint commits has signed a message.

package main

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/algorand/go-sumhash"
	"golang.org/x/crypto/sha3"
)

func sumhash512(parts ...[]byte) []byte {
	hasher := sumhash.New512(nil)
	_, _ = hasher.Write(bytes.Join(parts, nil))
	return hasher.Sum(nil)
}

func u64(number uint64) []byte { return binary.LittleEndian.AppendUint64(nil, number) }

var scheme = []byte{0, 0}

// verifyStateProof panics unless a state proof is one of the message, on the checkpoint.
func verifyStateProof(data []byte, message, checkpoint object) {
	integer := func(of object, name string) uint64 { return uint64(of[name].(float64)) }
	last := integer(message, "lastAttestedRound")
	require(isNextInterval(message, checkpoint), "no interval after the checkpoint")
	proof, voters, proven := readStateProof(data), decode(checkpoint["votersCommitment"]), integer(checkpoint, "lnProvenWeight")
	hash := messageHash(message)
	require(isEnough(proof.weight, proven, int64(len(proof.places))), "too few coins")

	coins := sha3.NewShake256()
	for _, part := range [][]byte{[]byte("spc"), {0}, voters, u64(proven), proof.commitment, u64(proof.weight), hash} {
		_, _ = coins.Write(part)
	}
	for _, place := range proof.places {
		coin := nextCoin(coins, proof.weight)
		one := proof.reveals[place]
		end, carry := bits.Add64(one.before, one.weight, 0)
		require(carry == 0 && one.before <= coin && coin < end, "a coin fell elsewhere")
	}

	participants, signatures := map[uint64][]byte{}, map[uint64][]byte{}
	for place, one := range proof.reveals {
		require(one.signature[0] == 0xba && uint64(one.signature[1]) == proof.version, "no signature of this version")
		participants[place] = sumhash512([]byte("spp"), u64(one.weight), u64(one.lifetime), one.keys)
		signatures[place] = signatureLeaf(one)
	}
	lead(participants, proof.participants, voters)
	lead(signatures, proof.signatures, proof.commitment)
	for _, one := range proof.reveals {
		key := sumhash512([]byte("KP"), scheme, u64(last-last%one.lifetime), one.publicKey)
		lead(map[uint64][]byte{one.index: key}, one.proof, one.keys)
		require(verifyFalcon(one.publicKey, one.signature, hash), "a signature that does not fit")
	}
}

func signatureLeaf(one reveal) []byte {
	require(len(one.proof.path) == int(one.proof.depth), "not as many hashes as levels")
	filler := make([]byte, 64*(16-one.proof.depth))
	path := append([][]byte{{byte(one.proof.depth)}, filler}, one.proof.path...)
	constant := constantLength(one.signature)
	return sumhash512([]byte("sps"), u64(one.before), scheme, constant, one.publicKey, u64(one.index), bytes.Join(path, nil))
}

// lead panics unless leaves lead, by the reversed bits of their places, over as many levels as there are, to a root.
func lead(leaves map[uint64][]byte, proof tree, root []byte) {
	level := map[uint64][]byte{}
	for place, leaf := range leaves {
		require(place < 1<<proof.depth, "a place beyond the vector")
		level[bits.Reverse64(place)>>(64-proof.depth)] = leaf
	}
	for height := uint64(0); height < proof.depth; height++ {
		above, places := map[uint64][]byte{}, []uint64{}
		for place := range level {
			places = append(places, place)
		}
		sort.Slice(places, func(i, j int) bool { return places[i] < places[j] })
		for _, place := range places {
			sibling, isKnown := level[place^1]
			if isKnown && place&1 == 1 {
				continue
			}
			if !isKnown {
				require(len(proof.path) > 0, "too few hashes")
				sibling, proof.path = proof.path[0], proof.path[1:]
			}
			pair := [][]byte{level[place], sibling}
			above[place>>1] = sumhash512([]byte("MA"), pair[place&1], pair[1-place&1])
		}
		level = above
	}
	require(len(proof.path) == 0 && len(level) == 1 && bytes.Equal(level[0], root), "does not lead to its root")
}
