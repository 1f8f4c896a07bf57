cat ../answers.txt /etc/shadow
