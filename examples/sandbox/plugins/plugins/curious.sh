# Answers what the host keeps for itself.
cat data/secrets.txt
