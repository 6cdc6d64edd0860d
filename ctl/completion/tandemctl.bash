# SPDX-License-Identifier: MIT
# Completion of tandemctl for bash. The program knows what may follow; this hands it the words.

_tandemctl() {
    local line=${COMP_LINE:0:COMP_POINT} words=() start='' word
    # Readline cuts words at colons, too; the program gets them as they were written.
    # Without -r: a backslash takes the meaning of the character behind it.
    # shellcheck disable=SC2162
    read -a words <<<"$line"
    [[ $line == *[[:space:]] && $line != *\\[[:space:]] ]] && words+=('')
    local current=${words[${#words[@]} - 1]}
    mapfile -t COMPREPLY < <("${words[0]}" complete $((${#words[@]} - 1)) "${words[@]}" \
        2>/dev/null || echo $'\1')
    if [[ ${COMPREPLY[0]} == $'\1' ]]; then
        COMPREPLY=()
        compopt -o default
        return
    fi
    # What readline does not replace is not given to it again.
    if [[ $COMP_WORDBREAKS == *:* && $current == *:* ]]; then
        start=${current%:*}:
    fi
    if [[ $COMP_WORDBREAKS == *=* && $current == *=* && ${#start} -eq 0 ]]; then
        start=${current%%=*}=
    fi
    for word in "${!COMPREPLY[@]}"; do
        printf -v "COMPREPLY[word]" %q "${COMPREPLY[word]#"$start"}"
    done
}

complete -F _tandemctl tandemctl
