package main

import (
	"fmt"
	"runtime"
)

func main() {
	start := make(chan bool)
	values := make(chan int64, 1024)
	for i := int64(0); i < 1000000; i++ {
		go func(i int64) {
			<-start
			values <- i
		}(i)
	}
	runtime.Gosched()
	close(start)
	sum := int64(0)
	for i := 0; i < 1000000; i++ {
		sum += <-values
	}
	fmt.Println(sum)
}
