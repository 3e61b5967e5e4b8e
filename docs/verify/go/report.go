// What is said of a bundle.

package main

import (
	"fmt"
	"slices"
	"strings"
)

// reportBundle says what is right and wrong with a bundle, and whether it verifies.
func reportBundle(value any, believed trust, evidence []string) bool {
	bundle, _ := value.(object)
	name := chainOf(value)
	results := []result{{"schema", name != ""}}
	if name != "" {
		results = append(results, check(bundle, name, believed)...)
	}
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
