# fish completion for inquest
set -l commands summary run report ask coverage dump tune doctor help
set -l none "not __fish_seen_subcommand_from $commands"
set -l summary "not __fish_seen_subcommand_from run report ask coverage dump tune doctor help"

complete -c inquest -n $none -a summary -d 'what happened'
complete -c inquest -n $none -a run -d 'run a program and keep a core of its failure'
complete -c inquest -n $none -a report -d 'evidence as JSON'
complete -c inquest -n $none -a ask -d 'is there a run that fits a query'
complete -c inquest -n $none -a coverage -d 'yes, no or maybe for every line'
complete -c inquest -n $none -a dump -d 'the model as text'
complete -c inquest -n $none -a tune -d 'switch the recording of paths on or off'
complete -c inquest -n $none -a doctor -d 'what would stop a core from being had'
complete -c inquest -n $none -a help -d 'help COMMAND tells more'
complete -c inquest -n $none -l version -d 'show the version'
complete -c inquest -n '__fish_seen_subcommand_from help' -f -a "$commands"

complete -c inquest -l json -d 'print JSON'
complete -c inquest -s q -l quiet -d 'no progress, no warnings'
complete -c inquest -l time -x -d 'stop after this time'
complete -c inquest -l memory -x -d 'stop at this many bytes'
complete -c inquest -s v -l verbose -d 'say all there is to say'
complete -c inquest -s h -l help -d 'show help'

complete -c inquest -n $summary -l source-dir -r -d 'look for source files'
complete -c inquest -n "not __fish_seen_subcommand_from run tune doctor help" -l debug-dir -r -d 'look for separate debug files'
for command in $summary '__fish_seen_subcommand_from report ask coverage'
    complete -c inquest -n $command -l sysroot -r -d 'where the libraries are'
end
complete -c inquest -n '__fish_seen_subcommand_from dump' -s f -l function -x -d 'only the functions of this name'
complete -c inquest -n '__fish_seen_subcommand_from dump' -l alone -d 'without the libraries it needs'
complete -c inquest -n "not __fish_seen_subcommand_from run doctor help" -l no-cache -d 'read the model anew'
complete -c inquest -n '__fish_seen_subcommand_from report run' -s o -l output -r -d 'write to a file'

set -l inquiry '__fish_seen_subcommand_from ask coverage'
complete -c inquest -n $inquiry -l solver -x -a 'auto utl fsa vpa' -d 'who answers'
complete -c inquest -n $inquiry -l use -x -a 'stack coverage paths logs' -d 'use only these observations'
complete -c inquest -n $inquiry -l given -x -d 'take this for granted'
complete -c inquest -n $inquiry -l log -r -d 'a log that the run has written'
complete -c inquest -n $inquiry -l log-complete -d 'no line of the logs was lost'
complete -c inquest -n '__fish_seen_subcommand_from ask' -s w -l witness -d 'print the run'
complete -c inquest -n '__fish_seen_subcommand_from coverage' -l lcov -r -d 'write .info'
complete -c inquest -n '__fish_seen_subcommand_from coverage' -l file -x -d 'only these files'

complete -c inquest -n '__fish_seen_subcommand_from tune' -l on -x -d 'record paths in these functions'
complete -c inquest -n '__fish_seen_subcommand_from tune' -l off -x -d 'do not record paths in these'
complete -c inquest -n '__fish_seen_subcommand_from tune' -l on-stack -r -d 'record them in what was on stacks of cores'
complete -c inquest -n '__fish_seen_subcommand_from tune' -l list -d 'print every function with its setting'

complete -c inquest -n '__fish_seen_subcommand_from run' -s c -l core -r -d 'name of the core'
complete -c inquest -n '__fish_seen_subcommand_from run' -l zstd -d 'compress the core'
complete -c inquest -n '__fish_seen_subcommand_from run' -s e -l expect -r -d 'wrong output is a failure'
complete -c inquest -n '__fish_seen_subcommand_from run' -l expect-stderr -r -d 'the same for standard error'
complete -c inquest -n '__fish_seen_subcommand_from run' -s u -l unbuffered -d 'standard output is a terminal'
complete -c inquest -n '__fish_seen_subcommand_from run' -l no-seccomp -d 'stop at all system calls'
complete -c inquest -n '__fish_seen_subcommand_from run' -s t -l timeout -x -d 'still running is a failure'
complete -c inquest -n '__fish_seen_subcommand_from run' -s f -l follow -d 'failures of children count'
complete -c inquest -n '__fish_seen_subcommand_from run' -l no-follow -d 'children run untraced'
complete -c inquest -n '__fish_seen_subcommand_from run' -s a -l all -d 'keep every failure'
complete -c inquest -n '__fish_seen_subcommand_from run' -s n -l no-summary -d 'print no summary'
complete -c inquest -n '__fish_seen_subcommand_from run' -s p -l pass-exit -d 'exit as the program did'
