### leading colons and names in lists
lookup('::m::b') lookup(m::b) ::lookup('k') lookup(::m::c) lookup(['a', "b", c])
### options
lookup({'name' => 'k', 'value_type' => Hash, 'merge' => {'strategy' => 'deep'}, 'default_value' => {}})
lookup('k', {merge => 'unique', default_values_hash => $x}) lookup(name => 'j', merge => first)
### arguments at their places
lookup('a', Hash[String, Integer], 'deep', {'x' => [1]}) lookup('b', undef, undef, undef) lookup('c') |$k| { "x ${k}" }
### methods
$x = 'k'.lookup $y = 'k'.lookup(String) $z = ['a', 'b'].lookup $w = $k['a'].lookup $v = f('x').lookup(Hash)
### calls in strings and heredocs
$x = "x ${lookup('a')} ${'b'.lookup} ${[1].map |$i| { "${lookup("c.${i}")}" }} \${lookup('no')}"
$y = @("END":json/L) + @(OTHER)
  ${lookup('d')} it's
  | END
  ${lookup('no')}
  | OTHER
### older functions
hiera('a', 1) hiera_array('b', []) hiera_hash('c') hiera_include('classes') $hiera = {hiera => 1}
### names that a class knows
class m::n { lookup("${title}::q") lookup("$name") lookup("${module_name}::x${y}") }
define m::d { lookup("${title}::q") }
### patterns
['a', 'b'].each |$k| { lookup("m::${k}::$k-x") lookup("${k}") lookup($k) lookup('a' + 'b') lookup("m::${k['a']}") }
### a comma in a lambda, braces and bars in defaults
class m($a = ['x'].map |$k, $v| { $k }, $b = $c ? { /x/ => 1, default => 2, }, Hash[String, Array[Integer]] $d = { 'a' => [1, 2], b => { c => 3 } }, $e = ($a) , $f = -1, *$rest) { }
### an empty list, no list, commas at the end
class a() { } class b { } class c inherits a { } class d ($x,) inherits ::a::b { } define e::f ( $x , ) { }
### types that touch their variables
class m(Enum['a']$a, Optional[Pattern[/\A[\/a]+\z/, /b/]]$b = undef, M::T $c, Tuple[Integer, 1, default] $d, Struct[{a => Integer, Optional[b] => String}] $e) { }
### slashes
$x = 4 / 2 / 1 if $x =~ /'/ { include a } case $x { /"}/: { include b } 'x', /y/: { } } $y = [/a/, /b\/c/] $z = $y[0] / 2
### nested definitions
class m { class n::o($x) { include p } define q { } } class after { function_call() } function m::f($x, String $y = 'z') >> Hash[String, Integer] { lookup($x) }
### words that are keywords elsewhere
class { 'x': require => Class['y'], include => 1; 'z': * => $h } $class = { 'class' => a, type => b, function => c } File { require => x }
### uses of classes
include a, '::B::C', d contain(['e', "f::${x}"]) require Class['g', 'h'] ['i', j].include include $k include [l, 'm'] Class['n'].contain
### resources with lists and defaults
class { ['a', "b"]: x => 1, y => { z => 2 }, } class { default: x => 1; 'c': } class { "d::${x}": } class { $e: }
### node blocks
node 'a.b.c', web01.example.net, /^db\d+\/x$/, default { include a } node "x" inherits default { }
### aliases
type M::A = Variant[Integer, Array[M::A]] type M::B = Struct[{ a => Integer, # comment ]
 Optional[b] => String }] type C = M::A
### comments
# class no { }
/* class no { ' */ class m( # ' comment
  $a, # , $no
  # $no,
  $b = '#', /* $no */ $c,
) { # }
}
### strings with escapes and dollars
class m($a = 'it\'s', $b = "a \" \$ \u{41} $ {", $c = "$a-b $a.b $a[1] ${a}", $d = '\\', $e = "${a['x']} ${$b.length}") { lookup("a\tb\\") lookup('c\d\\e\'f') }
### numbers
class m($a = 0x1F, $b = 017, $c = 1.5e-3, $d = -3, $e = 1e5) { }
### blanks beyond ASCII
class { 'x': y => 1 } class m( $a) { }
### line ends
class m(
  $a = 'x
y',
  $b,
) {
  include z
}
### words with dashes and underscores
class m($a_b = foo-bar, $_c = a-1, $d = x::y-z) { lookup(a-b) include foo-bar }
### chains and collectors
Class['a'] -> Class['b'] ~> File <| title == 'x' |> { require => Package['y'] } Foo <<| |>> { } @@foo { 'x': y => lookup('k') } realize(Foo['x'])
### statements without brackets
include lookup('classes', Array, 'unique') lookup('more').include notice lookup('k') fail "x ${lookup('l')}"
### deferred calls are no calls of Puppet's tree
$x = Deferred('lookup', ['k', Hash, 'deep'])
### refused: a missing comma
class m($a $b) { }
### refused: a bracket that nothing closes
class m($a = [1) { }
### a class that is within a condition of a define, and blanks before brackets
define m::d ( $x ) { if $x { include a } } Class [ 'b' ] -> Class[c]
### refused: the word class without a name
class class {}
### refused: an attribute that is the word class
foo { 'x': a => class }
### refused: two commas
class m($a,, $b) { }
### refused: parents before parameters
class m inherits n ($a) { }
### refused: a number with letters
class m($a = 7d) { }
### refused: a byte order mark
﻿class m { }
### refused template: a bar begins a lambda
<%- | String $p = lookup('b') | -%>
### template: parameters with defaults and calls
<%- | String $p = 'b', $q = undef | -%>
<%= lookup('k', String) %> ${lookup('no')}
<%- if $p { include a } -%> <%# lookup('c') %> <%= "${lookup('d')}" -%>
