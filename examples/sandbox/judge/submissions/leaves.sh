sleep 100000 &
read a b
echo $((a + b))
