// What a verifier must know of Algorand: the ids of transactions and blocks, and the way from the one to the other.

package main

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"slices"
)

type algorand struct{}

var noPadding = base32.StdEncoding.WithPadding(base32.NoPadding)

// seedVersions are consensus v34 to v38, whose light headers begin with the seed.
var seedVersions = []string{
	specs + "2dd5435993f6f6d65691140f592ebca5ef19ffbd",
	specs + "433d8e9a7274b6fca703d91213e05c7e6a589e69",
	specs + "44fa607d6051730f5264526bf3c108d51f0eadb6",
	specs + "1ac4dd1f85470e1fb36c8a65520e1313d7dfed5e",
	specs + "abd3d4823c6f77349fc04c3af7b1e99fe4df699f",
}

// Text of 89 letters.
const specs = "\xd9\x59https://github.com/algorandfoundation/specs/tree/"

func (algorand) levels() []string { return []string{"finalized"} }
func (algorand) canFail() bool    { return false }

// transaction gives the id and the network of a transaction; the ledger where it names no network.
func (algorand) transaction(data []byte, ledger string) facts {
	fields := readMap(data, true)
	kind := fields["type"][0]
	require(kind >= 0xa0 && kind < 0xc0 || kind >= 0xd9 && kind <= 0xdb, "its type is no text")
	return facts{id: id("TX", data), network: network(fields, ledger)}
}

// header gives the hash, the height and the network of a block.
func (algorand) header(data []byte, ledger string) facts {
	fields := readMap(data, false)
	number := readInteger(fields["rnd"])
	require(number < 1<<53, "a height of 2^53 or more")
	return facts{id: id("BH", data), height: number, network: network(fields, ledger)}
}

// isIncluded says whether a transaction is in the block of a header: by the Merkle tree that the header commits to.
func (on algorand) isIncluded(inclusion object, transaction, header []byte) bool {
	on.header(header, "")
	fields := readMap(header, false)
	tree, digest := "txn", sha512_256
	if fields["txn256"] != nil {
		tree, digest = "txn256", sha2_256
	}
	stib := digest([]byte("STIB"), decode(inclusion["stibBase64"]))
	leaf := digest([]byte("TL"), digest([]byte("TX"), transaction), stib)
	if inclusion["tree"] != tree || !leads(digest, tree == "txn256", leaf, inclusion, readDigest(fields[tree])) {
		return false
	}
	light, present := inclusion["lightHeader"].(object)
	return !present || isCommitted(light, fields, header)
}

// isCommitted says whether a block is in the interval of a state proof: of one that no bundle can show to be consensus'.
func isCommitted(light object, fields map[string][]byte, header []byte) bool {
	first, value := "1", append([]byte{0xc4, 32}, sha512_256([]byte("BH"), header)...)
	if slices.Contains(seedVersions, string(fields["proto"])) {
		first, value = "0", fields["seed"]
	}
	require(readInteger(fields["rnd"]) > 0, "no round that a state proof covers")
	for _, digest := range [][]byte{value, fields["gh"], fields["txn256"]} {
		readDigest(digest)
	}
	encoded := []byte{0x80}
	for _, member := range []struct {
		name  string
		value []byte
	}{{first, value}, {"gh", fields["gh"]}, {"r", fields["rnd"]}, {"tc", fields["txn256"]}} {
		encoded[0]++
		encoded = append(append(append(encoded, 0xa0|byte(len(member.name))), member.name...), member.value...)
	}
	interval := float64(uint64(1) << len(light["siblings"].([]any)))
	leaf := sha2_256([]byte("B256"), encoded)
	return light["interval"] == interval && leads(sha2_256, true, leaf, light, decode(light["commitment"]))
}

func network(fields map[string][]byte, ledger string) string {
	if fields["gh"] == nil {
		return ledger
	}
	return "algorand:" + base64.RawURLEncoding.EncodeToString(readDigest(fields["gh"]))[:32]
}

// isAddress says whether a value is an address: a public key of 32 bytes and the last 4 of its hash.
func isAddress(value any) bool {
	text, ok := value.(string)
	data, err := noPadding.DecodeString(text)
	isSpelled := err == nil && noPadding.EncodeToString(data) == text
	return ok && isSpelled && len(data) == 36 && bytes.Equal(sha512_256(data[:32])[28:], data[32:])
}

func id(domain string, data []byte) string {
	return noPadding.EncodeToString(sha512_256([]byte(domain), data))
}
