# Changes one row at once, and says whether it did. Cells are put with a timestamp; columns and families go up to the
# one before it, because a delete hides what has its own. With a version only if `i:n` still is that one, with :absent
# only if there is none. With a ttl the server takes what is put away after so many milliseconds, but for `i:n`: it
# counts from the timestamp, which is no time here, so that the clock is added.
def mutate(table, row, timestamp, put, delete: [], version: nil, ttl: nil)
  client = org.apache.hadoop.hbase.client
  bytes = lambda { |column| column.split(":", 2).map { |name| name.to_java_bytes } }
  key = row.to_java_bytes
  stay, come = put.partition { |column, _| ttl.nil? || column == "i:n" }.map do |cells|
    cells.each_with_object(client::Put.new(key, timestamp)) do |(column, value), some|
      some.addColumn(*bytes.call(column), value.to_java_bytes)
    end
  end
  come.setTTL((Time.now.to_f * 1000).to_i + ttl - timestamp) unless come.isEmpty
  go = client::Delete.new(key)
  delete.each do |column|
    family, qualifier = bytes.call(column)
    qualifier ? go.addColumns(family, qualifier, timestamp - 1) : go.addFamily(family, timestamp - 1)
  end
  all = client::RowMutations.new(key)
  [stay, come].each { |some| all.add(some) unless some.isEmpty }
  all.add(go) unless delete.empty?
  rows = get_table(table).table
  if version.nil?
    rows.mutateRow(all)
    return true
  end
  check = client::CheckAndMutate.newBuilder(key)
  family, qualifier = bytes.call("i:n")
  check = version == :absent ? check.ifNotExists(family, qualifier) :
    check.ifEquals(family, qualifier, [version].pack("q>").to_java_bytes)
  rows.checkAndMutate(check.build(all)).isSuccess
end
