//! Tables as definitions: commands, a CloudFormation template, a Terraform file.

use super::index::Projection;
use super::json::{Doc, argument, map, text, truth};
use super::schema::{DynamoTable, Key};
use super::settings::{Billing, Settings};
use crate::generate::{Block, File};
use crate::names::NameRule;
use askloom_model::{CollectionId, Id};
use std::collections::HashSet;

/// Names of resources in Terraform.
const RESOURCES: NameRule = NameRule {
    allowed: |letter| letter.is_ascii_alphanumeric() || letter == '_',
    first: |letter| letter.is_ascii_alphabetic(),
    small: true,
    reserved: &[],
    longest: 200,
};

const ROLES: [&str; 2] = ["HASH", "RANGE"];

/// A table with its indexes.
pub(super) fn with_indexes(
    tables: &[DynamoTable],
) -> impl Iterator<Item = (&DynamoTable, Vec<&DynamoTable>)> {
    let made =
        |table: &&DynamoTable| table.index.is_none() && table.has_items() && table.home() == table.collection;
    tables.iter().filter(made).map(|table| {
        let is_of =
            |host: CollectionId| tables.get(host.index()).is_some_and(|of| of.home() == table.collection);
        let own = |other: &&DynamoTable| other.index.as_ref().is_some_and(|index| is_of(index.host));
        (table, tables.iter().filter(own).collect())
    })
}

/// The commands that make a table.
pub(super) fn create(
    table: &DynamoTable,
    indexes: &[&DynamoTable],
    settings: &Settings,
    followed: &[bool],
) -> Block {
    let input = Doc::Map(properties(table, indexes, settings));
    let name = argument(&table.name);
    let mut text = format!(
        "aws dynamodb create-table --cli-input-json {}\naws dynamodb wait table-exists --table-name {name}",
        argument(&input.print())
    );
    if settings.point_in_time_recovery {
        text.push_str(&format!(
            "\naws dynamodb update-continuous-backups --table-name {name} \\\n  \
             --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
        ));
    }
    if let Some(expiring) = expiring(table, followed) {
        let specification = map([("Enabled", truth(true)), ("AttributeName", self::text(expiring))]);
        text.push_str(&format!(
            "\naws dynamodb update-time-to-live --table-name {name} \\\n  --time-to-live-specification {}",
            argument(&specification.line())
        ));
    }
    Block { of: table.name.clone(), text, whole: true }
}

/// The keys of a table and of its indexes, each attribute once.
fn keys<'t>(table: &'t DynamoTable, indexes: &[&'t DynamoTable]) -> Vec<&'t Key> {
    let mut keys: Vec<&Key> = Vec::new();
    for key in table.keys().chain(indexes.iter().flat_map(|index| index.keys())) {
        if keys.iter().all(|other| other.name != key.name) {
            keys.push(key);
        }
    }
    keys
}

fn attributes(table: &DynamoTable, indexes: &[&DynamoTable]) -> Doc {
    let one =
        |key: &Key| map([("AttributeName", text(&key.name)), ("AttributeType", text(key.scalar().name()))]);
    Doc::List(keys(table, indexes).into_iter().map(one).collect())
}

fn key_schema(table: &DynamoTable) -> Doc {
    let keys = table.keys().zip(ROLES);
    let keys = keys.map(|(key, role)| map([("AttributeName", text(&key.name)), ("KeyType", text(role))]));
    Doc::List(keys.collect())
}

fn index(index: &DynamoTable, settings: &Settings) -> Doc {
    let projection = match index.projection() {
        Projection::Keys => map([("ProjectionType", text("KEYS_ONLY"))]),
        Projection::All => map([("ProjectionType", text("ALL"))]),
        Projection::Include(names) => {
            let names = Doc::List(names.iter().map(text).collect());
            map([("ProjectionType", text("INCLUDE")), ("NonKeyAttributes", names)])
        }
    };
    let mut all =
        vec![("IndexName", text(&index.name)), ("KeySchema", key_schema(index)), ("Projection", projection)];
    all.extend(throughput(settings).filter(|_| !is_local(index)));
    map_of(all)
}

fn is_local(table: &DynamoTable) -> bool {
    table.index.as_ref().is_some_and(|index| index.local)
}

fn throughput(settings: &Settings) -> Option<(&'static str, Doc)> {
    let Billing::Provisioned { read_units, write_units } = settings.billing else { return None };
    let units = |units: u64| Doc::Plain(units.to_string());
    let both = [("ReadCapacityUnits", units(read_units)), ("WriteCapacityUnits", units(write_units))];
    Some(("ProvisionedThroughput", map(both)))
}

fn map_of(all: Vec<(&str, Doc)>) -> Doc {
    Doc::Map(all.into_iter().map(|(name, field)| (name.to_owned(), field)).collect())
}

/// What the command and CloudFormation have in common.
fn properties(table: &DynamoTable, indexes: &[&DynamoTable], settings: &Settings) -> Vec<(String, Doc)> {
    let mut all = vec![
        ("TableName", text(&table.name)),
        ("AttributeDefinitions", attributes(table, indexes)),
        ("KeySchema", key_schema(table)),
    ];
    for (name, local) in [("GlobalSecondaryIndexes", false), ("LocalSecondaryIndexes", true)] {
        let own = indexes.iter().filter(|index| is_local(index) == local);
        let own: Vec<Doc> = own.map(|own| index(own, settings)).collect();
        if !own.is_empty() {
            all.push((name, Doc::List(own)));
        }
    }
    match settings.billing {
        Billing::OnDemand => all.push(("BillingMode", text("PAY_PER_REQUEST"))),
        Billing::Provisioned { .. } => all.push(("BillingMode", text("PROVISIONED"))),
    }
    all.extend(throughput(settings));
    if settings.deletion_protection {
        all.push(("DeletionProtectionEnabled", truth(true)));
    }
    if !settings.tags.is_empty() {
        let tags = settings.tags.iter().map(|(name, tag)| map([("Key", text(name)), ("Value", text(tag))]));
        all.push(("Tags", Doc::List(tags.collect())));
    }
    all.into_iter().map(|(name, field)| (name.to_owned(), field)).collect()
}

/// The attribute with the time when DynamoDB may take an item away. A table has one at most.
fn expiring<'t>(table: &'t DynamoTable, followed: &[bool]) -> Option<&'t str> {
    if table.system.is_some() {
        return table.goes.as_deref();
    }
    let followed = followed.get(table.collection.index()).is_some_and(|followed| *followed);
    Some(&table.stamps.as_ref().filter(|_| followed)?.gone)
}

fn file(name: &str, run: &str, doc: &Doc) -> File {
    let block = Block { of: name.to_owned(), text: doc.print(), whole: true };
    File { name: name.to_owned(), run: Some(run.to_owned()), blocks: vec![block] }
}

/// Names of resources in CloudFormation: letters and digits alone, all different.
fn logical(tables: &[DynamoTable]) -> Vec<String> {
    let mut taken = HashSet::new();
    let one = |(table, _): (&DynamoTable, Vec<&DynamoTable>)| {
        let plain: String = table.name.chars().filter(char::is_ascii_alphanumeric).collect();
        let mut name = if plain.is_empty() { "Table".to_owned() } else { plain.clone() };
        let mut number = 2_usize;
        while !taken.insert(name.clone()) {
            name = format!("{plain}x{number}");
            number += 1;
        }
        name
    };
    with_indexes(tables).map(one).collect()
}

pub(super) fn cloudformation(tables: &[DynamoTable], settings: &Settings, followed: &[bool]) -> File {
    let names = logical(tables);
    let resource = |((table, indexes), name): ((&DynamoTable, Vec<&DynamoTable>), String)| {
        let mut all = properties(table, &indexes, settings);
        if settings.point_in_time_recovery {
            let enabled = map([("PointInTimeRecoveryEnabled", truth(true))]);
            all.push(("PointInTimeRecoverySpecification".to_owned(), enabled));
        }
        if let Some(gone) = expiring(table, followed) {
            let ttl = map([("AttributeName", text(gone)), ("Enabled", truth(true))]);
            all.push(("TimeToLiveSpecification".to_owned(), ttl));
        }
        // A table that is taken out of the template keeps its data.
        let resource = map([
            ("Type", text("AWS::DynamoDB::Table")),
            ("DeletionPolicy", text("Retain")),
            ("UpdateReplacePolicy", text("Retain")),
            ("Properties", Doc::Map(all)),
        ]);
        (name, resource)
    };
    let resources = with_indexes(tables).zip(names).map(resource).collect();
    let template =
        map([("AWSTemplateFormatVersion", text("2010-09-09")), ("Resources", Doc::Map(resources))]);
    let run = "aws cloudformation deploy --template-file cloudformation.json --stack-name STACK";
    file("cloudformation.json", run, &template)
}

pub(super) fn terraform(tables: &[DynamoTable], settings: &Settings, followed: &[bool]) -> File {
    let names = RESOURCES.names(with_indexes(tables).map(|(table, _)| table.name.as_str()));
    let resource = |((table, indexes), name): ((&DynamoTable, Vec<&DynamoTable>), String)| {
        let attribute = |key: &Key| map([("name", literal(&key.name)), ("type", text(key.scalar().name()))]);
        let mut all = vec![("name", literal(&table.name)), ("hash_key", literal(&table.partition.name))];
        if let Some(sort) = &table.sort {
            all.push(("range_key", literal(&sort.name)));
        }
        all.push(("attribute", Doc::List(keys(table, &indexes).into_iter().map(attribute).collect())));
        for (name, local) in [("global_secondary_index", false), ("local_secondary_index", true)] {
            let own = indexes.iter().filter(|index| is_local(index) == local);
            let own: Vec<Doc> = own.map(|index| terraform_index(index, settings)).collect();
            if !own.is_empty() {
                all.push((name, Doc::List(own)));
            }
        }
        match settings.billing {
            Billing::OnDemand => all.push(("billing_mode", text("PAY_PER_REQUEST"))),
            Billing::Provisioned { .. } => all.push(("billing_mode", text("PROVISIONED"))),
        }
        all.extend(capacity(settings));
        if settings.point_in_time_recovery {
            all.push(("point_in_time_recovery", map([("enabled", truth(true))])));
        }
        if settings.deletion_protection {
            all.push(("deletion_protection_enabled", truth(true)));
        }
        if let Some(gone) = expiring(table, followed) {
            all.push(("ttl", map([("attribute_name", literal(gone)), ("enabled", truth(true))])));
        }
        if !settings.tags.is_empty() {
            let tags = settings.tags.iter().map(|(name, tag)| (name.clone(), literal(tag)));
            all.push(("tags", Doc::Map(tags.collect())));
        }
        (name, Doc::Map(all.into_iter().map(|(name, field)| (name.to_owned(), field)).collect()))
    };
    let resources = with_indexes(tables).zip(names).map(resource).collect();
    let tables = map([("aws_dynamodb_table", Doc::Map(resources))]);
    file("terraform.tf.json", "terraform apply", &map([("resource", tables)]))
}

fn terraform_index(index: &DynamoTable, settings: &Settings) -> Doc {
    let mut all = vec![("name", literal(&index.name))];
    if !is_local(index) {
        all.push(("hash_key", literal(&index.partition.name)));
    }
    if let Some(sort) = &index.sort {
        all.push(("range_key", literal(&sort.name)));
    }
    match index.projection() {
        Projection::Keys => all.push(("projection_type", text("KEYS_ONLY"))),
        Projection::All => all.push(("projection_type", text("ALL"))),
        Projection::Include(names) => {
            all.push(("projection_type", text("INCLUDE")));
            let names = names.iter().map(|name| literal(name));
            all.push(("non_key_attributes", Doc::List(names.collect())));
        }
    }
    if !is_local(index) {
        all.extend(capacity(settings));
    }
    map_of(all)
}

fn capacity(settings: &Settings) -> Vec<(&'static str, Doc)> {
    let Billing::Provisioned { read_units, write_units } = settings.billing else { return Vec::new() };
    let units = |units: u64| Doc::Plain(units.to_string());
    vec![("read_capacity", units(read_units)), ("write_capacity", units(write_units))]
}

/// Terraform takes `${` and `%{` for the start of an expression.
fn literal(value: &str) -> Doc {
    text(value.replace("${", "$${").replace("%{", "%%{"))
}
