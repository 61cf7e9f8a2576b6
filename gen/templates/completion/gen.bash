_gen_completion() {
    # bash splits words at `=` and `:`, too: the line is split at blanks, and the part that bash keeps is cut off
    local line="${COMP_LINE:0:COMP_POINT}" typed reply
    read -ra typed <<< "$line"
    local current="" number=${#typed[@]}
    if [[ $line != *[[:blank:]] ]]; then
        number=$((number - 1))
        current="${typed[number]}"
    fi
    local kept="${current%"${current##*[=:]}"}"
    COMPREPLY=()
    while IFS= read -r reply; do
        [[ $reply ]] && COMPREPLY+=("${reply#"$kept"}")
    done < <(env COMP_WORDS="$line" COMP_CWORD="$number" @VARIABLE@=complete_bash "$1" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace 2>/dev/null
    # files fit words and options that take them, and no values of fields or of other options
    local before=""
    [[ $number -gt 0 ]] && before="${typed[number - 1]}"
    [[ $current == --*=* ]] && before="${current%%=*}" && current=""
    [[ $current == *=* || " @VALUES@ " == *" $before "* ]] || compopt -o default 2>/dev/null
    return 0
}

complete -F _gen_completion gen
