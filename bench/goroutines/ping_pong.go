package main

import "fmt"

func main() {
	ping, pong := make(chan int64), make(chan int64)
	go func() {
		for n := range ping {
			pong <- n + 1
		}
		close(pong)
	}()
	n := int64(0)
	for i := 0; i < 500000; i++ {
		ping <- n
		n = <-pong
	}
	close(ping)
	fmt.Println(n)
}
