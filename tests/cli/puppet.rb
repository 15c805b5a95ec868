# frozen_string_literal: true

# Runs commands of Puppet, each in a process of its own, in which Puppet is loaded already: that alone takes a second.
#
# In, JSON lines: the arguments of `puppet`. Out, a line for each: {"status": 0, "out": "…"}.

require 'json'
require 'puppet/util/command_line'
require 'puppet'
require 'puppet/application/lookup'
require 'puppet/pops'
require 'puppet/parser/compiler'

$stdin.each_line do |line|
  from_child, to_parent = IO.pipe
  child = fork do
    from_child.close
    $stdin.reopen(File::NULL)
    $stdout.reopen(to_parent)
    Puppet::Util::CommandLine.new('puppet', JSON.parse(line)).execute # as the program `puppet` does
  end
  to_parent.close
  out = from_child.read.force_encoding(Encoding::UTF_8)
  _, ending = Process.wait2(child)
  puts JSON.generate('status' => ending.exitstatus, 'out' => out)
  $stdout.flush
end
