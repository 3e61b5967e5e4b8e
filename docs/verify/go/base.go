// What a verifier must know of Base: the ids of transactions and blocks, and the way from the one to the other.

package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"golang.org/x/crypto/sha3"
)

const baseNetwork = "eip155:8453"

type base struct{}

func (base) levels() []string { return []string{"included", "safe", "finalized"} }

// transaction gives the id and the network of a transaction. A sandbox plays recordings of other chains as Base.
func (base) transaction(data []byte, ledger string) facts {
	found := facts{id: "0x" + hex.EncodeToString(keccak(data)), network: baseNetwork}
	if chainID := readChainID(data); ledger == mainNet && chainID != nil {
		found.network = "eip155:" + chainID.String()
	}
	return found
}

// readChainID gives the EIP-155 chain id that the signature covers: none in a deposit, nor in a legacy transaction from
// before.
func readChainID(data []byte) *big.Int {
	require(len(data) > 0 && data[0] != 0 && (data[0] < 0x80 || data[0] >= 0xc0), "no EIP-2718 transaction")
	switch {
	case data[0] >= 0xc0:
		v := readList(data)[6].integer()
		if v.Cmp(big.NewInt(35)) < 0 {
			return nil
		}
		return v.Rsh(v.Sub(v, big.NewInt(35)), 1)
	case data[0] == 1, data[0] == 2, data[0] == 4:
		return readList(data[1:])[0].integer()
	}
	return nil
}

// header gives the hash, the height and the network of a block.
func (base) header(data []byte, _ string) facts {
	fields := readList(data)
	require(len(fields) >= 15 && fields[8].integer().IsUint64(), "no header")
	return facts{"0x" + hex.EncodeToString(keccak(data)), fields[8].integer().Uint64(), baseNetwork}
}

// isIncluded says whether a transaction, and its receipt, are in the block of a header: by the tries that it commits to.
func (base) isIncluded(inclusion object, transaction, header []byte) bool {
	fields, index := readList(header), uint64(inclusion["index"].(float64))
	if !bytes.Equal(descend(fields[4], index, inclusion["nodes"]), transaction) {
		return false
	}
	receipt, present := inclusion["receipt"].(object)
	return !present || bytes.Equal(descend(fields[5], index, receipt["nodes"]), decode(receipt["bytesBase64"]))
}

// Hex-prefix encoding: 0 or 1 of an extension, 2 or 3 of a leaf; odd ones hold a nibble of the path.
var hexPrefix = regexp.MustCompile(`^([13]|[02]0)(.*)$`)

// descend goes down a Merkle-Patricia trie, whose every node names the next, to what stands under the key rlp(index).
func descend(named rlp, index uint64, nodes any) (item []byte) {
	quantity := new(big.Int).SetUint64(index).Bytes()
	if index == 0 || index >= 0x80 {
		quantity = append([]byte{0x80 + byte(len(quantity))}, quantity...)
	}
	key := hex.EncodeToString(quantity)
	for _, text := range nodes.([]any) {
		node := decode(text)
		isNext := named.isList && len(node) < 32 && bytes.Equal(node, named.encoded) ||
			!named.isList && bytes.Equal(keccak(node), named.payload)
		items := readList(node)
		require(isNext && item == nil && (len(items) == 17 || len(items) == 2), "not the node that its parent names")
		if len(items) == 17 {
			var nibble int
			_, err := fmt.Sscanf(key[:1], "%x", &nibble)
			require(err == nil, "no key ends at a branch")
			key, named = key[1:], items[nibble]
			continue
		}
		prefix := hexPrefix.FindStringSubmatch(hex.EncodeToString(items[0].payload))
		require(!items[0].isList && prefix != nil, "no path")
		flag, path := prefix[1], prefix[2]
		require(strings.HasPrefix(key, path) && (path != "" || flag == "20"), "the path of another key")
		key, named = key[len(path):], items[1]
		if flag == "20" || flag == "3" {
			require(key == "" && !named.isList, "no leaf of this key")
			item = named.payload
		}
	}
	return item
}

func keccak(data []byte) []byte {
	hash := sha3.NewLegacyKeccak256()
	hash.Write(data)
	return hash.Sum(nil)
}
