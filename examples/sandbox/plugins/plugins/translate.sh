# Replaces words by those of a dictionary that it was given.
sed -f data/dictionary.sed
