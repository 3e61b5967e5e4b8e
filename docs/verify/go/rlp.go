// RLP, in which everything has one encoding, and the kinds of fields that Ethereum's structures have.

package main

import "math/big"

// An item of RLP: as it is encoded, what it holds, and the items of a list.
type rlp struct {
	isList           bool
	encoded, payload []byte
	items            []rlp
}

// Bytes of one length each: an address, a hash, a Bloom filter, a nonce.
var lengths = map[rune]int{'a': 20, 'h': 32, 'B': 256, 'N': 8}

// readFields gives the items of a list, each of the kind that its letter says: besides those above q, a quantity of at
// most 32 bytes; c, one of at most 8; s, 0 or 1; o, an address or nothing; b, any bytes; l, a list of anything.
func readFields(data []byte, kinds string, least, most int) []rlp {
	items := readList(data)
	require(len(items) >= least && len(items) <= most, "RLP: fields too few or too many")
	for index, kind := range kinds {
		if index == len(items) {
			break
		}
		require(items[index].isOfKind(kind), "RLP: a field of another kind")
	}
	return items
}

func (item rlp) isOfKind(kind rune) bool {
	length := len(item.payload)
	isQuantity := length == 0 || item.payload[0] != 0
	switch {
	case item.isList || kind == 'l':
		return item.isList && kind == 'l'
	case kind == 'q':
		return isQuantity && length <= 32
	case kind == 'c':
		return isQuantity && length <= 8
	case kind == 's':
		return length == 0 || length == 1 && item.payload[0] == 1
	case kind == 'o':
		return length == 0 || length == 20
	}
	return kind == 'b' || length == lengths[kind]
}

// readList gives the items of a list.
func readList(data []byte) []rlp {
	list := readItem(data, 0)
	require(list.isList && len(list.encoded) == len(data), "RLP: not one list")
	return list.items
}

// readItem reads what the bytes begin with, and all that is in it: everything in its shortest form.
func readItem(data []byte, depth int) rlp {
	require(depth <= 32 && len(data) > 0, "RLP: truncated, or nested deeper than 32")
	first := uint64(data[0])
	start, length := uint64(1), first-0x80
	switch {
	case first < 0x80:
		start, length = 0, 1
	case first >= 0xc0:
		length = first - 0xc0
	}
	if length > 55 {
		start = length - 54
		number := rlp{payload: data[1:start]}.integer()
		require(number.IsUint64() && number.Uint64() > 55, "RLP: not in its shortest form")
		length = number.Uint64()
	}
	require(length <= uint64(len(data))-start, "RLP: truncated")
	item := rlp{isList: first >= 0xc0, encoded: data[:start+length], payload: data[start : start+length]}
	require(start != 1 || length != 1 || item.isList || item.payload[0] >= 0x80, "RLP: not in its shortest form")
	for left := item.payload; item.isList && len(left) > 0; left = left[len(item.items[len(item.items)-1].encoded):] {
		item.items = append(item.items, readItem(left, depth+1))
	}
	return item
}

func (item rlp) integer() *big.Int {
	require(!item.isList && (len(item.payload) == 0 || item.payload[0] != 0), "RLP: no integer")
	return new(big.Int).SetBytes(item.payload)
}
