// Merkle-Patricia tries, to which a header of Base commits.

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
