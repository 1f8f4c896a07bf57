package main

import (
	"fmt"

	"example.com/tooldep"
)

// int one(void) { return 1; }
import "C"

func answer() int { return tooldep.Answer() + int(C.one()) }

func main() { fmt.Println(answer()) }
