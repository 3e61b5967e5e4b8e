// go run . [--evidence EVIDENCE CHECKPOINT] BUNDLE... KEYS: says which checks each bundle passes, and exits with 0 if all pass all, else with 1.
//
// KEYS is the file of a key history, or the kid of the one key that is believed; CHECKPOINT a file, or the root of a table.
// docs/format.md as a program: it shares nothing with attestd but Go's library and the modules of go.mod.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Fprintln(os.Stderr, reason)
			os.Exit(1)
		}
	}()
	args, evidence := os.Args[1:], []string(nil)
	if len(args) > 3 && args[0] == "--evidence" {
		args, evidence = args[3:], args[1:3]
	}
	require(len(args) > 1, "usage: go run . [--evidence EVIDENCE CHECKPOINT] BUNDLE... KEYS")
	last := len(args) - 1
	believed, all := readTrust(args[last]), true
	for _, file := range args[:last] {
		all = report(file, believed, evidence) && all
	}
	if !all {
		os.Exit(1)
	}
}

// report says what is right and wrong with the bundle in a file, and whether it verifies.
func report(file string, believed trust, evidence []string) bool {
	text, err := os.ReadFile(file)
	require(err == nil, "no such bundle")
	value, _ := parse(text)
	bundle, _ := value.(object)
	name := chainOf(value)
	results := []result{{"schema", name != ""}}
	if name != "" {
		results = append(results, check(bundle, name, believed)...)
	}
	fmt.Println(file)
	verified, passed := true, []string{}
	for _, result := range results {
		if result.passed {
			passed = append(passed, result.check)
		}
		fmt.Println(map[bool]string{true: "pass", false: "FAIL"}[result.passed], result.check)
		verified = verified && result.passed
	}
	if inclusion, ok := bundle["inclusion"].(object); ok && name != "" && inclusion["lightHeader"] != nil {
		fmt.Println(notChecked, "commitment")
	}
	var status string
	statement, isItem := bundle["statement"].(object)
	signed := signedPart(bundle)
	if !isItem && slices.Contains(results, result{"inclusion", true}) {
		status = outcome(bundle)
	}
	if status != "" {
		fmt.Println("receipt", status)
	}
	if _, hasBlock := bundle["block"]; !hasBlock && slices.Contains(results, result{"note", true}) {
		if isItem {
			status = stateItem(statement)
		} else {
			status = state(bundle["attest"].(object)["note"].(string))
		}
	}
	if name != "" {
		status, _ := judgeKey(signed, believed)
		fmt.Println("key", keyID(signed["attestor"].(object)["pqPublicKey"]), status)
	}
	if name != "" && evidence != nil {
		verified = reportEvidence(evidence[0], evidence[1], bundle, passed) && verified
	}
	if !verified {
		fmt.Println("not verified")
		return false
	}
	if believed.ledger != mainNet {
		fmt.Println("warning sandbox")
	}
	if statement["level"] == "included" || strings.Contains(signed["attest"].(object)["note"].(string), `"l":"included"`) {
		fmt.Println("warning included_only")
	}
	if status == "failed" {
		fmt.Println("warning transaction_failed")
	}
	fmt.Printf("verified, stated as recorded on Algorand in round %.0f\n", signed["attest"].(object)["round"])
	return true
}

// outcome is what became of the transaction, where the bundle has its receipt.
func outcome(bundle object) string {
	receipt, present := bundle["inclusion"].(object)["receipt"].(object)
	if !present {
		return ""
	}
	return receiptStatus(decode(receipt["bytesBase64"]), decode(bundle["source"].(object)["txnBytesBase64"]))
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
