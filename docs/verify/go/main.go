// go run . [--evidence EVIDENCE CHECKPOINT] FILE... KEYS: says which checks each bundle, batch or receipt passes, and exits with 0
// if all pass all, else with 1.
//
// EVIDENCE is of one bundle; CHECKPOINT a file, or the root of a table. KEYS is the file of a key history, or the kid of the one
// key that is believed. go run . - reads such arguments from standard input, a JSON list in each line, and says behind each what
// the exit code would be. docs/format.md as a program: it shares nothing with attestd but Go's library and the modules of go.mod.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

func main() {
	args := os.Args[1:]
	if len(args) != 1 || args[0] != "-" {
		os.Exit(run(args))
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		require(json.Unmarshal(lines.Bytes(), &args) == nil, "no list of arguments")
		fmt.Println("exit", run(args))
	}
}

// run judges what the arguments name, and gives the exit code.
func run(args []string) (code int) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Fprintln(os.Stderr, reason)
			code = 1
		}
	}()
	evidence := []string(nil)
	if len(args) > 3 && args[0] == "--evidence" {
		args, evidence = args[3:], args[1:3]
	}
	require(len(args) > 1, "usage: go run . [--evidence EVIDENCE CHECKPOINT] FILE... KEYS")
	last := len(args) - 1
	believed := readTrust(args[last])
	for _, file := range args[:last] {
		if !report(file, believed, evidence) {
			code = 1
		}
	}
	return code
}

// report says what is right and wrong with what a file holds, and whether all of it verifies.
func report(file string, believed trust, evidence []string) bool {
	text, err := os.ReadFile(file)
	require(err == nil, "no such file")
	value, err := parse(text)
	whole := value
	if err != nil {
		whole, _ = parseUpTo(text, 16<<20, 64_000)
	}
	items := []object(nil)
	attempt(func() { items = itemsOf(whole) })
	verified := true
	for index, item := range items {
		fmt.Println(file, index)
		verified = reportBundle(item, believed, evidence) && verified
	}
	if items != nil {
		return verified
	}
	fmt.Println(file)
	if !fits(value, receiptForm) {
		return reportBundle(value, believed, evidence)
	}
	verified = false
	attempt(func() { verified = reportReceipt(value.(object)["signature"].(string), believed) })
	return verified
}

// attempt leaves things as they are where the bytes are not what they should be.
func attempt(compute func()) {
	defer func() { _ = recover() }()
	compute()
}

func require(condition bool, otherwise string) {
	if !condition {
		panic(errors.New(otherwise))
	}
}
