" Drives Vim with ALE as a user works, with the shipped file of editors/vim:
"   vim -N -u NONE -i NONE -n -es --not-a-term -S ale.vim
" The working directory is a copy of tests/control-repo, hiera-ls is on PATH; HIERA_LS_ALE is ALE's folder, HIERA_LS_VIM editors/vim,
" HIERA_LS_CHECK a script that defines the linter `hiera_check`. What held, or what did not, is written to the file `result`.

set hidden noswapfile
let &runtimepath = $HIERA_LS_ALE . ',' . &runtimepath
filetype plugin on
runtime plugin/ale.vim
execute 'source' $HIERA_LS_VIM . '/hiera_ls.vim'
execute 'source' $HIERA_LS_CHECK
let g:ale_linters = {'yaml': ['hiera_ls']}
let g:ale_hover_to_preview = 1
let s:out = []

function! s:End(message) abort
  call writefile(s:out + [a:message], 'result')
  execute a:message =~# '^held' ? 'qall!' : 'cquit!'
endfunction

" Vim handles messages while it sleeps.
function! s:Wait(what, condition) abort
  let l:start = reltime()
  while reltimefloat(reltime(l:start)) < 60
    if a:condition() | return | endif
    sleep 20m
  endwhile
  call s:End('timed out waiting for ' . a:what)
endfunction

function! s:Codes() abort
  return map(copy(ale#engine#GetLoclist(bufnr(''))), 'get(v:val, "code", "")')
endfunction

function! s:Preview() abort
  return filter(range(1, winnr('$')), 'getwinvar(v:val, "&previewwindow")')
endfunction

function! s:GoTo(text) abort
  call cursor(1, 1)
  if !search('\V' . a:text, 'c') | call s:End('no ' . a:text) | endif
endfunction

function! s:BreakAndMend() abort
  silent %s/"%{alias('ntp_servers')}"/"pool %{alias('ntp_servers')}"/
  call ale#Queue(0)
  call s:Wait('a finding', {-> s:Codes() == ['alias-not-whole-value']})
  silent %s/"pool %{alias('ntp_servers')}"/"%{alias('ntp_servers')}"/
  call ale#Queue(0)
  call s:Wait('no findings', {-> empty(s:Codes())})
endfunction

edit data/nodes/web-01.oslo.example.net.yaml
call s:GoTo('profile::web::vhosts')
ALEHover
call s:Wait('hover', {-> !empty(s:Preview())})
let s:text = join(getbufline(winbufnr(s:Preview()[0]), 1, '$'), "\n")
if s:text !~# 'keepalive: 75' | call s:End('hover is ' . s:text) | endif
pclose

edit data/common.yaml
call s:GoTo("profile::base::contact')")
ALEGoToDefinition
call s:Wait('the jump', {-> getline('.') =~# '^profile::base::contact:'})
call s:BreakAndMend()

" A server that is killed is started again with the next change. ALE starts it through a shell, which may stay between.
function! s:Server() abort
  let l:children = split(system('pgrep -P ' . getpid()))
  return trim(system('pgrep -x hiera-ls -P ' . join([getpid()] + l:children, ',')))
endfunction
let s:killed = s:Server()
if s:killed ==# '' | call s:End('there is no server to kill') | endif
call system('kill -KILL ' . s:killed)
" Only when ALE has heard of the end, which a shell between may delay, is the next change for another server.
call s:Wait('the end of the server', {-> empty(ale#lsp#GetConnections())})
call s:BreakAndMend()
if s:Server() ==# '' | call s:End('there is no other server') | endif

" The same through `check --stdin`.
ALEStopAllLSPs
let g:ale_linters = {'yaml': ['hiera_check']}
call s:BreakAndMend()

call s:End('held: Vim ' . v:version / 100 . '.' . v:version % 100 . ', ALE')
