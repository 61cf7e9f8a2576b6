#compdef gen

_gen_completion() {
    eval "$(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" @VARIABLE@=complete_zsh gen 2>/dev/null)"
}

compdef _gen_completion gen
