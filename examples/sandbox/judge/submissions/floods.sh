while :; do echo spam; done
