function __gen_completion
    env @VARIABLE@=complete_fish _TYPER_COMPLETE_FISH_ACTION=$argv[1] _TYPER_COMPLETE_ARGS=(commandline -cp) \
        gen 2>/dev/null
end

complete --command gen --no-files --condition "__gen_completion is-args" --arguments "(__gen_completion get-args)"
