" hiera-ls through ALE: put this into the vimrc, or source it there.

autocmd BufRead,BufNewFile *.eyaml setfiletype yaml

" The environment: the outermost folder with a hiera.yaml, as modules have one of their own. Where there is none, no server is started.
function! HieraRoot(buffer) abort
  let l:folder = escape(fnamemodify(bufname(a:buffer), ':p:h'), ' ,;\')
  let l:files = findfile('hiera.yaml', l:folder . ';', -1)
  return empty(l:files) ? '' : fnamemodify(l:files[-1], ':p:h')
endfunction

call ale#linter#Define('yaml', {
\   'name': 'hiera_ls',
\   'lsp': 'stdio',
\   'executable': 'hiera-ls',
\   'command': '%e server',
\   'language': 'yaml',
\   'project_root': function('HieraRoot'),
\})
