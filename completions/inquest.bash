# bash completion for inquest
_inquest() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=summary word
    local commands="summary run report ask coverage slice suspects path dump tune doctor help"
    local common="--json --quiet --time --memory --verbose --help"
    local files="--debug-dir --sysroot --no-cache"
    local inquiry="--solver --use --given --log --log-complete --log-is --narrow $files"
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case " $commands " in
        *" $word "*)
            command=$word
            break
            ;;
        esac
    done
    case $previous in
    --source-dir | --debug-dir | --sysroot)
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return
        ;;
    --solver)
        mapfile -t COMPREPLY < <(compgen -W "auto utl fsa vpa csi" -- "$current")
        return
        ;;
    --use)
        mapfile -t COMPREPLY < <(compgen -W "stack coverage paths logs" -- "$current")
        return
        ;;
    --by)
        mapfile -t COMPREPLY < <(compgen -W "importance ochiai tarantula" -- "$current")
        return
        ;;
    --discard)
        mapfile -t COMPREPLY < <(compgen -W "all failing relabel" -- "$current")
        return
        ;;
    --outcome)
        mapfile -t COMPREPLY < <(compgen -W "passed failed" -- "$current")
        return
        ;;
    --method)
        mapfile -t COMPREPLY < <(compgen -W "auto forward backward" -- "$current")
        return
        ;;
    --weights)
        mapfile -t COMPREPLY < <(compgen -W "auto sets diagrams" -- "$current")
        return
        ;;
    --critical | --avoid | --before | --end | --per-step | --top | \
        --rate | --seed | --oracle | --cluster | --first | --confidence | \
        --time | --memory | --given | --file | --at | --why | --on | --off | --timeout | --function)
        return
        ;;
    esac
    local options
    case $command in
    summary) options="--source-dir $files" ;;
    report) options="--output $files" ;;
    ask) options="--witness $inquiry" ;;
    coverage) options="--lcov --file --intra $inquiry" ;;
    slice) options="--at --intra --static --stack --forward --why --lines --dot --quick --source-dir $inquiry" ;;
    path) options="--suspects --cluster --first --critical --avoid --before --end --no-stack --per-step --separate --top --no-dataflow --full --dot --source-dir --method --weights $inquiry" ;;
    tune) options="--on --off --on-stack --list --no-cache" ;;
    run) options="--core --zstd --expect --expect-stderr --unbuffered --no-seccomp --timeout --follow --no-follow --all --no-summary --output --pass-exit --suspects --rate --seed --oracle" ;;
    suspects)
        if [ "$COMP_CWORD" -eq 2 ]; then
            mapfile -t COMPREPLY < <(compgen -W "add rank show merge --help" -- "$current")
            return
        fi
        case ${COMP_WORDS[2]} in
        add) options="--outcome" ;;
        rank) options="--build --cluster --first --by --confidence --discard --csv --export --source-dir" ;;
        show) options="--build --runs" ;;
        *) options= ;;
        esac
        ;;
    dump) options="--function --alone --points-to --link --debug-dir --no-cache" ;;
    doctor) options=--directory ;;
    help)
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
        return
        ;;
    esac
    if [[ $current == -* ]]; then
        [ "$COMP_CWORD" -eq 1 ] && options="$options --version"
        mapfile -t COMPREPLY < <(compgen -W "$options $common" -- "$current")
    elif [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current"; compgen -f -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -o filenames -F _inquest inquest
