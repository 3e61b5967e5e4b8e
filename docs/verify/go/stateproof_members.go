// Maps and lists of a state proof.

package main

import (
	"slices"
	"strings"
)

// only gives the members of a map that has all of the required, may have the optional, and has no other.
func only(value any, required, optional string) members {
	fields, ok := value.(members)
	require(ok, "no map")
	for _, name := range strings.Fields(required) {
		require(fields[name] != nil, "no "+name)
	}
	for key := range fields {
		name, _ := key.(string)
		require(slices.Contains(strings.Fields(required+" "+optional), name), "an unknown member")
	}
	return fields
}

func (m *msgpack) decodeMembers(count uint64) members {
	found := members{}
	for ; count > 0; count-- {
		key := m.decode()
		found[key] = m.decode()
	}
	return found
}

func (m *msgpack) decodeItems(count uint64) []any {
	found := []any{}
	for ; count > 0; count-- {
		found = append(found, m.decode())
	}
	return found
}
