# frozen_string_literal: true

# Asks real Puppet whether values are of types: JSON lines [type, value] in, its message or null out.

require 'json'
require 'puppet'
require 'puppet/pops'

types = Puppet::Pops::Types
$stdout.sync = true
$stdin.each_line do |line|
  text, value = JSON.parse(line)
  answer =
    begin
      types::TypeAsserter.assert_instance_of('Found value', types::TypeParser.singleton.parse(text), value)
      nil
    rescue StandardError => e
      e.message
    end
  puts JSON.generate([answer])
end
