# Ruby's own globs: reads one pattern a line as JSON, writes the files it matches as a JSON list.
require 'json'

$stdin.each_line do |line|
  pattern = JSON.parse(line, quirks_mode: true)
  puts JSON.generate(Dir.glob(pattern).reject { |path| File.directory?(path) })
end
