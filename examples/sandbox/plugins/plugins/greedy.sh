# Writes where it was not invited.
echo "s/hello/mine/" > data/dictionary.sed
