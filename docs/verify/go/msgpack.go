// Canonical msgpack, as Algorand writes it: members in order, each length and integer in its shortest form.

package main

import (
	"errors"
	"slices"
)

// The least that each form of a length or an integer may hold: what would fit a shorter one must be in that.
var (
	leastInteger = []uint64{0x80, 1 << 8, 1 << 16, 1 << 32}
	leastText    = []uint64{32, 1 << 8, 1 << 16}
	leastBytes   = []uint64{0, 1 << 8, 1 << 16}
	leastList    = []uint64{16, 1 << 16}
)

// 0, {}, [], "", nil, false and no bytes.
var empty = []string{"\x00", "\x80", "\x90", "\xa0", "\xc0", "\xc2", "\xc4\x00"}

type msgpack struct {
	data     []byte
	at       uint64
	isStruct bool
}

// readMap gives the members of a map whose keys are text, each as it is encoded. A struct leaves out what is empty.
func readMap(data []byte, isStruct bool) map[string][]byte {
	reader := msgpack{data: data, isStruct: isStruct}
	members := reader.value(0)
	require(members != nil && reader.at == uint64(len(data)), "msgpack: not one map")
	return members
}

func (m *msgpack) value(depth int) map[string][]byte {
	require(depth <= 64, "msgpack: nested deeper than 64")
	kind := m.uint(1, 0)
	switch {
	case kind < 0x80, kind == 0xc0, kind == 0xc2, kind == 0xc3:
	case kind < 0x90:
		return m.members(kind&0x0f, depth+1)
	case kind < 0xa0:
		m.items(kind&0x0f, depth+1)
	case kind < 0xc0:
		m.take(kind & 0x1f)
	case kind >= 0xc4 && kind <= 0xc6:
		m.take(m.uint(1<<(kind-0xc4), leastBytes[kind-0xc4]))
	case kind >= 0xcc && kind <= 0xcf:
		m.uint(1<<(kind-0xcc), leastInteger[kind-0xcc])
	case kind >= 0xd9 && kind <= 0xdb:
		m.take(m.uint(1<<(kind-0xd9), leastText[kind-0xd9]))
	case kind == 0xdc, kind == 0xdd:
		m.items(m.uint(2<<(kind-0xdc), leastList[kind-0xdc]), depth+1)
	case kind == 0xde, kind == 0xdf:
		return m.members(m.uint(2<<(kind-0xde), leastList[kind-0xde]), depth+1)
	default:
		panic(errors.New("msgpack: a type that Algorand does not use"))
	}
	return nil
}

// members of a map: keys are integers, which go before, by value, or text, by its bytes.
func (m *msgpack) members(count uint64, depth int) map[string][]byte {
	found := map[string][]byte{}
	for last := ""; count > 0; count-- {
		key, member := m.encoded(depth), m.encoded(depth)
		kind, size := key[0], 1
		if kind >= 0xd9 && kind <= 0xdb {
			size = 1 + 1<<(kind-0xd9)
		}
		isText := size > 1 || kind&0xe0 == 0xa0
		require(isText || kind < 0x80 || kind >= 0xcc && kind <= 0xcf, "msgpack: a key of another type")
		place := "0" + string(key)
		if isText {
			place = "1" + string(key[size:])
			found[place[1:]] = member
		}
		require(last < place, "msgpack: members out of order")
		require(!(m.isStruct && isText && slices.Contains(empty, string(member))), "msgpack: an empty member")
		last = place
	}
	return found
}

func (m *msgpack) items(count uint64, depth int) {
	for ; count > 0; count-- {
		m.value(depth)
	}
}

func (m *msgpack) encoded(depth int) []byte {
	start := m.at
	m.value(depth)
	return m.data[start:m.at]
}

func (m *msgpack) uint(length, least uint64) (number uint64) {
	for _, digit := range m.take(length) {
		number = number<<8 | uint64(digit)
	}
	require(number >= least, "msgpack: not in its shortest form")
	return number
}

func (m *msgpack) take(length uint64) []byte {
	require(length <= uint64(len(m.data))-m.at, "msgpack: truncated")
	m.at += length
	return m.data[m.at-length : m.at]
}
