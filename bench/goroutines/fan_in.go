package main

import (
	"fmt"
	"sync"
)

func main() {
	values := make(chan int64, 64)
	var group sync.WaitGroup
	group.Add(100)
	for sender := int64(0); sender < 100; sender++ {
		go func(sender int64) {
			for i := int64(0); i < 10000; i++ {
				values <- sender * i
			}
			group.Done()
		}(sender)
	}
	go func() {
		group.Wait()
		close(values)
	}()
	sum := int64(0)
	for v := range values {
		sum += v
	}
	fmt.Println(sum)
}
