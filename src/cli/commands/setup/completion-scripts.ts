// What a shell reads once to complete `baton`: the script calls `baton complete` for everything else.

/** Shells with a completion script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

// Bash splits words at `:` and `=`, and replaces only the text after the last of them.
const BASH = `# baton: completion for bash. Put this into ~/.bashrc:  source <(baton completion bash)
_baton() {
  local index word='' words=() line value description
  COMPREPLY=()
  compopt -o nosort 2> /dev/null
  for ((index = 1; index <= COMP_CWORD; index++)); do
    if [[ \${COMP_WORDS[index]} == [:=]* || ( -n $word && $word == *[:=] ) ]]; then
      word+=\${COMP_WORDS[index]}
    else
      ((index > 1)) && words+=("$word")
      word=\${COMP_WORDS[index]}
    fi
  done
  words+=("$word")
  local kept=''
  [[ $word == *[:=]* ]] && kept=\${word%"\${word##*[:=]}"}
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    description=\${line#*$'\\t'}
    if [[ -z $value ]]; then
      compopt -o filenames 2> /dev/null
      case $description in
        files) while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "\${word#"$kept"}") ;;
        directories) while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -d -- "\${word#"$kept"}") ;;
      esac
    elif [[ \${COMP_TYPE:-9} == 63 && -n $description ]]; then
      COMPREPLY+=("\${value#"$kept"}  ($description)")
    else
      COMPREPLY+=("\${value#"$kept"}")
    fi
  done < <(baton complete -- "\${words[@]}" 2> /dev/null)
}
complete -F _baton baton
`;

const ZSH = `#compdef baton
# baton: completion for zsh. Put this into ~/.zshrc, after compinit:  source <(baton completion zsh)
_baton() {
  local line value description
  local -a values shown
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    description=\${line#*$'\\t'}
    if [[ -z $value ]]; then
      case $description in
        files) _files ;;
        directories) _files -/ ;;
      esac
    else
      values+=("$value")
      shown+=("$value\${description:+  -- $description}")
    fi
  done < <(baton complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)
  (( \${#values} )) && compadd -V baton -l -d shown -a values
}
compdef _baton baton
`;

const FISH = `# baton: completion for fish. Put this into ~/.config/fish/config.fish:  baton completion fish | source
function __baton_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (baton complete -- $words[2..-1] 2> /dev/null)
        switch $line
            case \\tfiles
                __fish_complete_path (commandline -ct)
            case \\tdirectories
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c baton -f -k -a '(__baton_complete)'
`;

/** The script for each shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
